"""A model's three programs, made by one command: what is asked for always, the command itself with
ExecuTorch (`export_qwen3_executorch.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2s.tts.qwen3.checkpoint.conversion import ConversionJob
from s2s.tts.qwen3.errors import BackendError, ConvertError
from s2s.tts.qwen3.executorch import export as export_module
from s2s.tts.qwen3.executorch.codec import TokenizerSource
from s2s.tts.qwen3.executorch.export import ExportWish, export_model
from s2s.tts.qwen3.executorch.weights import ExecutorchWeights
from tests.support.other_voices import check_voice
from tests.tts.qwen3.executorch.in_executorch import in_executorch

CHECKS = {
    "exports", "prints both", "record", "nothing is made again", "all goes to XNNPACK",
    "a damaged program is named", "an export for qnn says what happened",
}  # fmt: skip


@pytest.mark.executorch
@pytest.mark.timeout(2400)
def test_the_command_exports(tmp_path: Path) -> None:
    assert check_voice(in_executorch("export"), tmp_path) == dict.fromkeys(CHECKS, True)


@pytest.mark.parametrize(
    ("wish", "made"),
    [
        (ExportWish("m"), ("et-8", "et-8")),
        (ExportWish("m", "et-4", "et-f32"), ("et-4", "et-f32")),
        (ExportWish("m", delegate="QNN"), ("et-qnn", "et-qnn")),
        (ExportWish("m", "et-cuda", delegate="cuda"), ("et-cuda", "et-cuda")),
    ],
)
def test_a_delegate_has_its_own_quantisation(wish: ExportWish, made: tuple[str, str]) -> None:
    weights = wish.weights()
    assert (weights.talker, weights.predictor) == made


def test_another_is_refused() -> None:
    with pytest.raises(ConvertError, match="an export for coreml is in et-coreml, not in et-4"):
        ExportWish("m", "et-4", delegate="coreml").weights()
    with pytest.raises(ConvertError, match="is in et-f32, et-8, et-4, not in q4_k_m"):
        ExportWish("m", "q4_k_m").weights()
    with pytest.raises(BackendError, match="no delegate 'vulkan' here"):
        ExportWish("m", delegate="vulkan").weights()


def test_all_three_lie_where_a_model_is_opened_from(
    tiny_qwen3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def convert(weights: ExecutorchWeights, job: ConversionJob) -> Path:
        asked.append((weights.talker, job.converted))
        return tiny_qwen3("0.6b-base")

    def codec(source: TokenizerSource, cache: Path, delegate: str) -> Path:
        asked.append((len(source.content_hash) > 8, cache, delegate))
        return cache / "codec.pte"

    monkeypatch.setattr(export_module, "convert_to", convert)
    monkeypatch.setattr(export_module, "exported_codec", codec)
    made = export_model(ExportWish("m", delegate="CoreML"), tmp_path)
    assert made == (tiny_qwen3("0.6b-base"), tmp_path / "qwen3-graphs" / "codec.pte")
    assert asked == [
        ("et-coreml", tmp_path / "qwen3-converted"), (True, tmp_path / "qwen3-graphs", "coreml"),
    ]  # fmt: skip
