"""Sound files in and out: what they are, whatever their name; what is wrong, before the work."""

from __future__ import annotations

import io
import os
import struct
import threading
from pathlib import Path

import numpy as np
import pytest
import soundfile

from s2s.core.audio import (
    FORMATS,
    MAX_FILE_HZ,
    MIN_FILE_HZ,
    AudioError,
    check_output,
    check_writable,
    read_wav,
    write_sound,
    write_wav,
)

TONE = (0.4 * np.sin(2 * np.pi * 300 * np.arange(24_000) / 24_000)).astype(np.float32)
MAGIC = {"WAV": b"RIFF", "FLAC": b"fLaC", "OGG": b"OggS"}


@pytest.mark.parametrize("suffix", [*FORMATS, ".WAV", ".Mp3", ""])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000, 44_100, 48_000])
def test_the_suffix_is_the_format(tmp_path: Path, suffix: str, channels: int, rate_hz: int):
    path = tmp_path / f"tone{suffix}"
    check_output(path)
    assert not path.exists()
    write_sound(path, TONE if channels == 1 else np.stack([TONE, TONE], 1), rate_hz)
    container = FORMATS[suffix.lower() or ".wav"].container
    assert soundfile.info(str(path)).format == ("MP3" if container == "MP3" else container)
    assert path.read_bytes().startswith(MAGIC.get(container, b"\xff"))
    samples, read_hz = read_wav(path)
    assert read_hz == rate_hz
    assert np.abs(samples).max() == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("suffix", [".aac", ".m4a", ".opus", ".raw", ".txt", ".wma", ".json", ".w"])
def test_another_suffix_is_refused_by_name(tmp_path: Path, suffix: str):
    path = tmp_path / f"tone{suffix}"
    with pytest.raises(AudioError, match=rf"tone\{suffix}: \{suffix} is .* Name it \.wav"):
        check_output(path)
    with pytest.raises(AudioError, match="Name it"):
        write_sound(path, TONE, 24_000)
    assert not path.exists()


@pytest.mark.parametrize("check", [check_output, check_writable])
def test_an_output_that_cannot_be_is_known_before_the_work(tmp_path: Path, check):
    with pytest.raises(AudioError, match=r"there is no folder .*none\. Make it first"):
        check(tmp_path / "none" / "x.wav")
    (tmp_path / "folder.wav").mkdir()
    with pytest.raises(AudioError, match=r"folder\.wav: is a folder"):
        check(tmp_path / "folder.wav")
    (tmp_path / "file.wav").write_bytes(b"kept")
    with pytest.raises(AudioError, match="cannot be written"):
        check(tmp_path / "file.wav" / "x.wav")
    check(tmp_path / "file.wav")
    assert (tmp_path / "file.wav").read_bytes() == b"kept"
    with pytest.raises(AudioError, match="cannot be written"):
        check(tmp_path / f"{'x' * 300}.wav")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.wav", "folder.wav"]


def test_long_sound_is_written_in_parts(tmp_path: Path):
    long = np.tile(TONE, 60)
    write_sound(tmp_path / "long.ogg", long, 24_000)
    assert len(read_wav(tmp_path / "long.ogg")[0]) == len(long)


def test_sound_may_go_to_the_standard_output(capfdbinary: pytest.CaptureFixture[bytes]):
    write_sound(Path("-"), TONE, 24_000)
    assert capfdbinary.readouterr().out.startswith(b"RIFF")


def _through_a_pipe(path: Path, data: bytes) -> threading.Thread:
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=(data,), daemon=True)
    thread.start()
    return thread


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_pipe_is_read_to_its_end(tmp_path: Path, suffix: str):
    write_sound(tmp_path / f"tone{suffix}", TONE, 24_000)
    thread = _through_a_pipe(tmp_path / "pipe", (tmp_path / f"tone{suffix}").read_bytes())
    samples, rate_hz = read_wav(tmp_path / "pipe")
    thread.join()
    assert (len(samples), rate_hz) == (len(TONE), 24_000)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_standard_input_is_called_by_a_hyphen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_wav(tmp_path / "tone.wav", TONE, 24_000)
    piped = io.TextIOWrapper(io.BytesIO((tmp_path / "tone.wav").read_bytes()))
    monkeypatch.setattr("sys.stdin", piped)
    assert len(read_wav("-")[0]) == len(TONE)
    monkeypatch.setattr("sys.stdin", Terminal())
    with pytest.raises(AudioError, match="nothing is piped into it"):
        read_wav("-")


WRONG = {
    "nothing there": (None, "no such file"),
    "empty": (b"", "not readable as audio"),
    "text": (b"hello", "not readable as audio"),
    "half a header": (b"RIFF\x24\0\0\0WAVEfmt ", "not readable as audio|holds no audio"),
    "AAC": (b"\0\0\0 ftypM4A " + bytes(1000), r"not readable as audio .*Convert it to WAV"),
    "JSON": (b'{"error": "x"}', "not readable as audio"),
}


@pytest.mark.parametrize("suffix", [".wav", ".raw", ".mp3", ".flac", ""])
@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_read_is_named_whatever_it_is_called(tmp_path: Path, what: str, suffix: str):
    data, said = WRONG[what]
    path = tmp_path / f"x{suffix}"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(AudioError, match=f"x{suffix}: ({said})"):
        read_wav(path)


def test_sound_under_another_name_is_still_sound(tmp_path: Path):
    write_wav(tmp_path / "tone.raw", TONE, 24_000)
    assert len(read_wav(tmp_path / "tone.raw")[0]) == len(TONE)


def test_a_folder_and_a_device_are_called_what_they_are(tmp_path: Path):
    with pytest.raises(AudioError, match=r"is a folder\. Give the files in it"):
        read_wav(tmp_path)
    if Path("/dev/zero").exists():
        with pytest.raises(AudioError, match="/dev/zero: is a device"):
            read_wav("/dev/zero")
    with pytest.raises(AudioError, match=r"cannot be read|no such file"):
        read_wav(tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    "rate_hz", [0, 1, 100, MIN_FILE_HZ - 1, MAX_FILE_HZ + 1, 4_000_000, 2**31 - 1, 2**32 - 1]
)
def test_a_rate_that_no_recording_has_is_refused(tmp_path: Path, rate_hz: int):
    path = tmp_path / "odd.wav"
    write_wav(path, TONE, 24_000)
    data = bytearray(path.read_bytes())
    data[24:28] = struct.pack("<I", rate_hz)
    path.write_bytes(data)
    with pytest.raises(AudioError, match=r"odd\.wav: (says that it has|not readable)"):
        read_wav(path, 16_000)


@pytest.mark.parametrize("rate_hz", [MIN_FILE_HZ, 8_000, 11_025, 192_000, MAX_FILE_HZ])
def test_every_rate_that_recordings_have_is_read(tmp_path: Path, rate_hz: int):
    path = tmp_path / "usual.wav"
    write_wav(path, TONE, rate_hz)
    assert abs(len(read_wav(path, 16_000)[0]) - len(TONE) * 16_000 / rate_hz) < 40


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT"])
@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (44100, 2)])
def test_reads_every_usual_wav(tmp_path: Path, subtype: str, rate: int, channels: int) -> None:
    tone = 0.4 * np.sin(2 * np.pi * 300 * np.arange(rate) / rate)
    path = tmp_path / "tone.wav"
    soundfile.write(path, np.repeat(tone[:, None], channels, axis=1), rate, subtype=subtype)
    samples, read_hz = read_wav(path, 16000)
    assert read_hz == 16000
    assert abs(len(samples) - 16000) <= 2
    assert np.abs(samples).max() == pytest.approx(0.4, abs=0.02)


def test_one_sample_is_audio(tmp_path: Path) -> None:
    write_wav(tmp_path / "one.wav", np.array([0.5], dtype=np.float32), 16000)
    assert read_wav(tmp_path / "one.wav")[0].tolist() == [0.5]


def test_missing_empty_and_foreign_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"nothing\.wav: no such file"):
        read_wav(tmp_path / "nothing.wav")
    soundfile.write(tmp_path / "empty.wav", np.zeros(0), 16000)
    with pytest.raises(AudioError, match=r"empty\.wav: holds no audio"):
        read_wav(tmp_path / "empty.wav")
    (tmp_path / "text.wav").write_text("hello")
    with pytest.raises(AudioError, match=r"text\.wav: not readable as audio"):
        read_wav(tmp_path / "text.wav")
    soundfile.write(tmp_path / "nan.wav", np.array([np.nan, 0.0]), 16000, subtype="FLOAT")
    with pytest.raises(AudioError, match=r"nan\.wav: holds samples that are not finite"):
        read_wav(tmp_path / "nan.wav")


def test_an_unwritable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="cannot be written"):
        write_wav(tmp_path / "no" / "folder.wav", np.zeros(4, dtype=np.float32), 16000)
