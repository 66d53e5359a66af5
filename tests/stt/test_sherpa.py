"""Streaming recognisers of sherpa-onnx: the library itself, on a tiny model of random weights."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.stt.base import StreamingTranscriber, SttError, WordTimingTranscriber
from s2s.stt.hearing import StreamedHearing
from s2s.stt.sherpa import Sherpa, SherpaConfig, find_files
from tests.support.sherpa_model import write_transducer

pytest.importorskip("sherpa_onnx")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_transducer(tmp_path_factory.mktemp("sherpa") / "model")


def recogniser(folder: Path, *words: str, **options: object) -> Sherpa:
    config = SherpaConfig(model=str(folder), **options)  # type: ignore[arg-type]
    return Sherpa(config, Resources(Store(folder.parent / "store", manifest={}), 1, words=words))


@pytest.fixture(scope="module")
def sherpa(folder: Path) -> Sherpa:
    return recogniser(folder)


@pytest.fixture(scope="module")
def speech(librivox: dict[str, tuple[Block, str]]) -> Block:
    return librivox["librivox_0880"][0]


def test_words_come_while_one_speaks_and_are_those_of_the_end(
    sherpa: Sherpa, speech: Block
) -> None:
    """A word more every 160 ms, none taken back, and the same as heard at once."""
    assert isinstance(sherpa, StreamingTranscriber)
    stream = sherpa.open()
    step = sherpa.interval_ms * 16
    said = [stream.push(speech[start : start + step]).text for start in range(0, len(speech), step)]
    final = stream.end()
    assert all(later.startswith(earlier) for earlier, later in pairwise([*said, final.text]))
    assert len(set(said)) > len(said) / 3
    assert final == sherpa.transcribe(speech)
    assert final.language == "en"


def test_it_tells_when_each_word_was_written(sherpa: Sherpa, speech: Block) -> None:
    assert isinstance(sherpa, WordTimingTranscriber)
    plain, timed = sherpa.transcribe(speech), sherpa.transcribe_words(speech)
    assert timed == plain
    assert [word.text for word in timed.words] == plain.text.split()
    starts = [word.start_s for word in timed.words]
    assert starts == sorted(starts)
    assert len(set(starts)) > len(starts) / 2
    assert timed.words[-1].end_s <= len(speech) / 16_000
    # What has been written by then comes at those times.
    stream = sherpa.open()
    half = speech[: len(speech) // 2]
    so_far = stream.push(half).text.split()
    assert 0 < len(so_far) < len(starts)
    assert starts[len(so_far) - 2] <= len(half) / 16_000
    assert starts[len(so_far) + 1] >= len(half) / 16_000 - 0.4
    assert sherpa.transcribe_words(speech, stop=lambda: True).words == ()


def test_the_last_words_come_with_the_silence_behind_them(folder: Path, speech: Block) -> None:
    sherpa = recogniser(folder)
    stream = sherpa.open()
    said = stream.push(speech).text
    assert len(stream.end().text) > len(said)


def test_any_split_says_the_same(sherpa: Sherpa, speech: Block) -> None:
    random = np.random.default_rng(1)
    expected = sherpa.transcribe(speech).text
    for _ in range(3):
        cuts = np.sort(random.integers(0, len(speech), 9))
        stream = sherpa.open()
        for piece in np.split(speech, cuts):
            stream.push(piece)
        assert stream.end().text == expected


def test_a_turn_is_heard_on_where_it_was_left(sherpa: Sherpa, speech: Block) -> None:
    hearing = StreamedHearing(sherpa)
    half = speech[: len(speech) // 2]
    for audio, final in ((half, False), (half, True), (speech, False), (speech, True)):
        heard = hearing.hear(audio, final=final, language=None, stop=lambda: False)
    assert heard == sherpa.transcribe(speech)  # pyright: ignore[reportPossiblyUnbound]


def test_taught_words_are_searched_for(folder: Path, sherpa: Sherpa, speech: Block) -> None:
    plain = sherpa.transcribe(speech).text
    taught = recogniser(folder, "THE SEA", hotwords_score=4.0).transcribe(speech).text
    assert taught.count("THE SEA") > plain.upper().count("THE SEA")


def test_capitals_are_written_small_and_taught_words_as_taught(
    folder: Path, sherpa: Sherpa, speech: Block
) -> None:
    plain = sherpa.transcribe(speech).text
    assert plain == plain.lower() != ""
    taught = recogniser(folder, "Sea", hotwords_score=0.0).transcribe(speech).text
    assert " Sea " in taught


def test_stop_is_asked_between_pieces(sherpa: Sherpa, speech: Block) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(0)
        return len(asked) > 6

    said = sherpa.transcribe(speech, stop=stop).text
    assert len(said) < len(sherpa.transcribe(speech).text) / 3
    assert sherpa.transcribe(speech, stop=lambda: True).text == ""


def test_streams_of_two_people_do_not_mix(sherpa: Sherpa, speech: Block) -> None:
    other = speech[::-1].copy()
    one, two = sherpa.open(), sherpa.open()
    for start in range(0, len(speech), 3_000):
        one.push(speech[start : start + 3_000])
        two.push(other[start : start + 3_000])
    assert one.end() == sherpa.transcribe(speech)
    assert two.end() == sherpa.transcribe(other)


def test_a_closed_recogniser_is_not_used(folder: Path) -> None:
    sherpa = recogniser(folder)
    sherpa.warm()
    sherpa.close()
    sherpa.close()
    with pytest.raises(RuntimeError, match="close"):
        sherpa.open()


def test_no_model_named(tmp_path: Path) -> None:
    with pytest.raises(SttError, match="no model was named"):
        Sherpa(SherpaConfig(), Resources(Store(tmp_path, manifest={})))


def touch(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    return folder


def test_what_a_folder_holds_is_told_from_its_files(tmp_path: Path) -> None:
    both = touch(
        tmp_path / "a",
        "tokens.txt", "encoder-epoch-99.onnx", "encoder-epoch-99.int8.onnx", "decoder.onnx",
        "joiner.onnx", "bpe.vocab",
    )  # fmt: skip
    found = find_files(both, "auto")
    assert (found.kind, [path.name for path in found.models]) == (
        "transducer",
        ["encoder-epoch-99.int8.onnx", "decoder.onnx", "joiner.onnx"],
    )
    assert found.vocabulary == both / "bpe.vocab"
    paraformer = touch(tmp_path / "b", "tokens.txt", "encoder.onnx", "decoder.onnx")
    assert find_files(paraformer, "auto").kind == "paraformer"
    single = touch(tmp_path / "c", "tokens.txt", "model.int8.onnx")
    assert find_files(single, "auto").kind == "zipformer2-ctc"
    assert find_files(single, "nemo-ctc").models == (single / "model.int8.onnx",)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SttError, match=r"tokens\.txt is not there"):
        find_files(touch(tmp_path / "a"), "auto")
    with pytest.raises(SttError, match=r"no decoder\*\.onnx"):
        find_files(touch(tmp_path / "b", "tokens.txt", "encoder.onnx"), "transducer")


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="got 0 and 640"):
        SherpaConfig(interval_ms=0)
