"""What is measured, in words, and what a setting opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.bench.qwen3.settings import WARM_FRAMES, BenchSetting, open_setting, warm


def setting(folder: Path, home: Path, **changes: object) -> BenchSetting:
    usual: dict[str, object] = {"predictor_quant": None, "backend": "onnx", "threads": 1}
    return BenchSetting(folder, home, "int8", **(usual | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({}, "no draft tokens"),
        ({"draft_tokens": 2}, "2 draft tokens, accepted as these weights do"),
        ({"draft_tokens": 2, "codes_a_pass": 2.5}, "2 draft tokens, emulated 2.5 codes a pass"),
    ],
)
def test_a_row_says_what_it_was_measured_with(changes: dict[str, object], label: str) -> None:
    assert setting(Path(), Path(), **changes).label == label


def test_a_setting_is_opened_and_spoken_with_twice_unheard(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_setting(setting(tiny_qwen3("0.6b-customvoice"), tmp_path))
    spoken: list[tuple[int, int]] = []
    speak = type(model).speak_frames

    def counted(self: object, request: object, frames: int, *rest: object, **how: object) -> object:
        spoken.append((frames, how["seed"]))  # type: ignore[arg-type]
        return speak(self, request, frames, *rest, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(type(model), "speak_frames", counted)
    bench = warm(model)
    assert spoken == [(WARM_FRAMES, 0), (WARM_FRAMES, 1)]
    assert bench.schedule.edge_costs is not None
    assert warm(model, 3).schedule.codec_chunk_frames == 3
    model.close()
