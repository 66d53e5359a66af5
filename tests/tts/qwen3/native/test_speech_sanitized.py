"""The C interface with a compiler's checks: files that mean no good, and a stop from another
thread."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tts.qwen3.native.driver_builds import NATIVE, Build, build, require, sanitized
from tests.tts.qwen3.native.packed_files import damaged

FOUND = 99
"""What a program ends with that has done what it must not."""
ADDRESSES = sanitized("avx2", "address", "undefined", "float-cast-overflow")
SCARCE = replace(
    ADDRESSES,
    extra=(
        *ADDRESSES.extra, f"-I{NATIVE / 'driver'}", "-include", "scarce.h",
        str(NATIVE / "driver" / "scarce.c"),
    ),
)  # fmt: skip
THREADS = sanitized("avx2", "thread")
_LIMIT_S = 500.0

pytestmark = [pytest.mark.sanitizers, pytest.mark.timeout(1200)]
Made = Callable[[Build, str], Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A program that is linked with the C interface, made once."""
    programs: dict[tuple[str, str], Path] = {}

    def program(way: Build, name: str) -> Path:
        require(way)
        key = (repr(way), name)
        if key not in programs:
            programs[key] = build(way, tmp_path_factory.mktemp("program"), program=name)
        return programs[key]

    return program


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def run(program: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Whatever it said, it did nothing that it must not."""
    options = f"exitcode={FOUND}:allocator_may_return_null=1"
    environment = {
        **os.environ, "ASAN_OPTIONS": options, "TSAN_OPTIONS": f"exitcode={FOUND}",
        "UBSAN_OPTIONS": f"exitcode={FOUND}",
    }  # fmt: skip
    done = subprocess.run(
        [program, *words], capture_output=True, text=True, timeout=_LIMIT_S, env=environment,
        check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout[-500:] + done.stderr[-4000:]
    return done


@pytest.mark.parametrize(
    ("kind", "speaker"), [("0.6b-customvoice", "eric"), ("1.7b-voicedesign", "-")]
)
def test_speaking_does_nothing_that_it_must_not(
    kind: str, speaker: str, made: Made, packed: Callable[[str], Path]
) -> None:
    text = "It's a test: 你好 e\u0301 <|im_end|>.\n\nYes?"
    done = run(made(ADDRESSES, "tests/opening"), packed(kind), speaker, text, "20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("samples") == 2


@settings(max_examples=200)
@given(data=st.data())
def test_a_file_that_is_not_trusted_does_no_harm(
    data: st.DataObject, made: Made, packed: Callable[[str], Path], scratch: Path
) -> None:
    file = scratch / "hostile"
    file.write_bytes(damaged(packed("0.6b-customvoice").read_bytes(), data))
    done = run(made(ADDRESSES, "tests/opening"), file, "ryan", "Hi.", "2")
    assert done.stdout.count("samples") == 2 or done.stderr.strip()


def test_memory_that_runs_out_is_said_and_all_of_it_is_freed(
    made: Made, packed: Callable[[str], Path]
) -> None:
    """At each allocation in turn."""
    done = run(made(SCARCE, "tests/scarce_speech"), packed("0.6b-customvoice"), "ryan")
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-2]) > 100


def test_a_stop_from_another_thread_is_no_race(made: Made, packed: Callable[[str], Path]) -> None:
    done = run(made(THREADS, "tests/stopping"), packed("0.6b-customvoice"), "ryan")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("frames") == 6
