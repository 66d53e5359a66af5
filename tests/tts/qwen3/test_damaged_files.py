"""Files of a checkpoint, of its caches and voices are damaged at random: every core works, or
refuses with the one documented error, within 2 s of work and 512 MB, and no sample is no number.

The same cases every time. A few of each kind here; many with TESTS_FULL_DAMAGE=1.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from s2s.testing.random_checkpoint import write_checkpoint
from tests.tts.qwen3.damage import DAMAGES, Case, Outcome

CORES = ("native", "onnx", "ggml")
_ROOT = Path(__file__).parents[3]

Kinds = list[tuple[str, str, tuple[str, ...]]]
"""An attempt, a file, and the damages."""

_OFFICIAL: Kinds = [
    ("official", "config.json", ("field", "nested", "truncate")),
    ("official", "model.safetensors", ("header", "flip_head", "truncate", "not_a_number")),
    ("official", "generation_config.json", ("field",)),
    ("official", "vocab.json", ("field", "truncate")),
    ("official", "merges.txt", ("flip", "truncate")),
    ("official", "tokenizer_config.json", ("field", "noise")),
]
_CONVERTED: Kinds = [
    ("converted", "config.json", ("field",)),
    ("converted", "model.safetensors", ("header",)),
    ("converted", "converted.json", ("field", "flip")),
    ("converted", "files.json", ("field", "truncate")),
    ("converted", "*.gguf", ("flip_head", "truncate", "flip")),
]
_UNSEALED: Kinds = [
    ("unsealed", "talker.gguf", ("flip_head", "flip", "truncate")),
    ("unsealed", "predictor.gguf", ("flip_head", "flip")),
    ("unsealed", "tables.gguf", ("flip_head", "flip", "noise")),
]
_GRAPHS: Kinds = [
    ("converted", "*.onnx", ("flip", "truncate", "noise")),
    ("converted", "*.onnx.data", ("truncate", "flip")),
]
_PACKED: Kinds = [
    ("custom", "*.packed", ("flip", "flip_head", "truncate", "noise")),
    ("base", "*.packed", ("flip",)),
]
_KEPT: Kinds = [
    ("custom", "*.onnx", ("flip", "truncate")),
    ("custom", "*.onnx.data", ("truncate",)),
    ("custom", "silence-*.json", ("field", "flip", "nested")),
    ("base", "someone.voice.npz", ("flip", "flip_head", "truncate", "noise")),
    ("enrol", "config.json", ("field",)),
    ("enrol", "model.safetensors", ("header", "not_a_number")),
]


def cases_of(core: str, seeds: range) -> list[Case]:
    """Every kind of damage, with each seed."""
    own = _GRAPHS if core == "onnx" else _UNSEALED
    if core == "native":
        own = [*own, *_PACKED]
    return [
        Case(core, what, file, damage, seed)
        for seed in seeds
        for what, file, damages in [*_OFFICIAL, *_CONVERTED, *own, *_KEPT]
        for damage in damages
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tiny checkpoints, and per core what is made of them."""
    folder = tmp_path_factory.mktemp("store")
    write_checkpoint(folder / "custom", "1.7b-customvoice")
    write_checkpoint(folder / "base", "0.6b-base")
    return folder


@pytest.fixture(scope="module")
def walked(store: Path, kernel_cache: Path) -> Callable[[str, list[Case]], list[Outcome]]:
    """Runs cases of a core in processes of their own."""

    def walk(core: str, cases: list[Case]) -> list[Outcome]:
        if not (store / core).exists():
            shutil.copytree(kernel_cache, store / core / "home" / "kernels")
            _python("-c", _PREPARE, str(store), core)
        lines = _python(
            "-m",
            "tests.tts.qwen3.damage",
            str(store),
            given=json.dumps([asdict(case) for case in cases]),
        )
        found = [json.loads(line) for line in lines.splitlines()]
        return [Outcome(**each | {"case": Case(**each["case"])}) for each in found]

    return walk


_PREPARE = """
import sys
from pathlib import Path
from tests.tts.qwen3.damage import prepare
prepare(Path(sys.argv[1]), sys.argv[2])
"""


def _python(*arguments: str, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        cwd=_ROOT,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def check(outcomes: list[Outcome], cases: list[Case]) -> None:
    """Each works or is refused, in words that name a file or what is to be done."""
    assert [each.case for each in outcomes] == cases
    bad = [each for each in outcomes if each.end not in ("works", "refused")]
    assert not bad, "\n".join(f"{each.case}: {each.end}\n{each.text}" for each in bad[:5])
    refused = [each for each in outcomes if each.end == "refused"]
    assert all(len(each.text) > 40 for each in refused)
    assert Counter(each.end for each in outcomes)["refused"] > len(outcomes) // 4


@pytest.mark.ggml
@pytest.mark.timeout(300)
@pytest.mark.parametrize("core", CORES)
def test_a_damaged_file_is_no_crash(
    core: str, walked: Callable[[str, list[Case]], list[Outcome]]
) -> None:
    """A third of the kinds for each core, another third for each."""
    cases = cases_of(core, range(1))[CORES.index(core) :: len(CORES)]
    check(walked(core, cases), cases)


@pytest.mark.full
@pytest.mark.skipif(
    os.environ.get("TESTS_FULL_DAMAGE") != "1", reason="minutes; set TESTS_FULL_DAMAGE=1"
)
@pytest.mark.ggml
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("core", CORES)
def test_no_damaged_file_is_a_crash(
    core: str, walked: Callable[[str, list[Case]], list[Outcome]]
) -> None:
    """Every kind, twelve times, for each core."""
    cases = cases_of(core, range(1, 13))
    check(walked(core, cases), cases)


def test_every_damage_is_tried() -> None:
    tried = {case.damage for core in CORES for case in cases_of(core, range(1))}
    assert tried == set(DAMAGES)
