"""The example of the C interface (native/examples/speak.c): compiled, run, and heard; and on other
processors and systems, where it writes the same bytes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.tts.qwen3.native.library import load_kernel
from tests.support.documents import fences
from tests.test_kernel_wheels_elsewhere import ARM, HERE, WINDOWS, Target, built, run
from tests.tts.qwen3.native.c_interface import CModel, compile_c
from tests.tts.qwen3.native.driver_builds import NATIVE

TEXT, SPEAKER = "Hello there.", "ryan"
Packed = Callable[[str], Path]


def spoken(model: CModel, **fields: object) -> bytes:
    """What the example writes, as 16-bit samples."""
    request = model.request(TEXT, speaker=SPEAKER.encode(), **fields)
    request.talker.greedy = request.predictor.greedy = 1
    pcm = model.speak(request).pcm
    found = np.empty(pcm.size, np.int16)
    pointer = pcm.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    model.library.to_int16(pointer, pcm.size, found.ctypes.data)
    return found.tobytes()


def samples(path: Path) -> bytes:
    """Of a WAV file, whose form is that of a voice of Qwen3-TTS."""
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24000)
        return file.readframes(file.getnframes())


@pytest.fixture(scope="module")
def wanted(library: ctypes.CDLL, packed: Packed) -> bytes:
    """The sound of the example, as it is here."""
    with CModel(library, packed("0.6b-customvoice")) as model:
        return spoken(model)


def test_it_writes_what_is_spoken(
    library_path: Path, packed: Packed, wanted: bytes, tmp_path: Path
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    program, sound = tmp_path / "speak", tmp_path / "hello.wav"
    compile_c(
        [str(NATIVE / "examples" / "speak.c"), str(library_path),
         f"-Wl,-rpath,{library_path.parent}"],
        program,
    )  # fmt: skip
    told = run([program, packed("0.6b-customvoice"), SPEAKER, TEXT, sound, "greedy"])
    assert told.startswith(f"{len(wanted) / 48000:.2f} s, level ")
    assert samples(sound) == wanted
    done = subprocess.run(
        [program, packed("0.6b-customvoice"), "nobody", TEXT, sound],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith('unknown speaker "nobody"; the first known is ')


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_is_of_c99_and_of_cpp(language: str, tmp_path: Path) -> None:
    compiler = {"c": "gcc", "c++": "g++"}[language]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "includes"
    source.write_text('#include "s2s_qwen3.h"\nint main(void) { return s2s_qwen3_version() != 1; }')
    standard = {"c": "-std=c99", "c++": "-std=c++11"}[language]
    compile_c(["-pedantic", standard, "-c", "-x", language, str(source)], tmp_path / "o", compiler)


def test_the_piece_in_the_document_is_whole(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    [piece] = (block for block in fences("c") if "s2s_qwen3.h" in block.text)
    source = tmp_path / "piece.c"
    player = "#include <stdio.h>\nint play(void *player, const float *samples, size_t count);\n"
    source.write_text(player + piece.text)
    compile_c(["-std=c99", "-c", str(source)], tmp_path / "o")


@pytest.mark.emulation
@pytest.mark.parametrize("target", [HERE, ARM, WINDOWS], ids=["CMake here", "ARM", "Windows"])
def test_it_writes_the_same_elsewhere(
    target: Target, packed: Packed, wanted: bytes, kernel_cache: Path, tmp_path: Path
) -> None:
    """Built by CMake, at the best level there is; all of them but `baseline` have the same bits."""
    if load_kernel(kernel_cache).level == "baseline":
        pytest.skip("this processor has no AVX2")
    program, sound = built(target, tmp_path, "speak"), tmp_path / "hello.wav"
    run([*target.under, program, packed("0.6b-customvoice"), SPEAKER, TEXT, sound, "greedy"])
    assert samples(sound) == wanted
