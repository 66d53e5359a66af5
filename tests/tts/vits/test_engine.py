"""The engine on small voices: the whole graph's sound, repeatable, stoppable, shared by threads."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from s2s.core.audio import Block
from s2s.models.onnx_file import read_model
from s2s.tts.vits.check import QUIET, Trial, whole_feed
from s2s.tts.vits.decoding import SteppedDecoding
from s2s.tts.vits.encoding import Scales
from s2s.tts.vits.engine import OneShotEngine, Utterance, VitsEngine, load_engine
from s2s.tts.vits.errors import CutError, SpeechError, VitsFileError, VitsVoiceError
from s2s.tts.vits.graph.cuts import find_inputs
from s2s.tts.vits.reference import TOLERANCE, ReferenceSounds, difference
from tests.support.vits import VOICES, voice_folder

IDS = {"_": [0], "^": [1], "$": [2], **{chr(97 + i): [3 + i] for i in range(26)}}


SENTENCE = [1, 0, 5, 0, 9, 0, 4, 0, 12, 0, 2]


Load = Callable[..., VitsEngine]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads a small voice with a config of its own."""

    def loaded(name: str, **fields: object) -> VitsEngine:
        fields = {"phoneme_id_map": IDS, **fields}
        engine = load_engine(voice_folder(tmp_path, name, **fields), threads=1)
        assert isinstance(engine, VitsEngine | OneShotEngine)
        return engine  # type: ignore[return-value]

    return loaded


def sound(utterance: Utterance) -> Block:
    return np.concatenate([piece.samples for piece in utterance.pieces()])


@pytest.mark.parametrize("name", ["plain", "speakers", "coarse", "steady", "pooled"])
def test_without_chance_it_is_the_whole_graphs_sound(load: Load, name: str) -> None:
    path = VOICES / f"{name}.onnx"
    feed = whole_feed(find_inputs(read_model(path)), Trial(tuple(SENTENCE)))
    [whole] = ReferenceSounds(path, [feed]).sounds
    streamed = sound(load(name).begin(SENTENCE, scales=QUIET))
    assert difference(whole, streamed) <= TOLERANCE


@pytest.mark.parametrize("name", ["plain", "pair", "pooled"])
def test_the_schedule_does_not_change_the_sound(load: Load, name: str) -> None:
    engine = load(name)
    # Without a cut before the flow the noise is drawn inside the encoder and has no seed.
    scales = QUIET if engine.split.cut == "latent" else None
    one = sound(engine.begin(SENTENCE, seed=3, scales=scales, schedule=(1000,)))
    for schedule in ((1,), (3, 5, 7), (8, 16, 32, 64)):
        other = sound(engine.begin(SENTENCE, seed=3, scales=scales, schedule=schedule))
        assert difference(one, other) <= TOLERANCE


def test_a_seed_repeats_and_no_seed_varies(load: Load) -> None:
    engine = load("plain")
    assert np.array_equal(
        sound(engine.begin(SENTENCE, seed=1)), sound(engine.begin(SENTENCE, seed=1))
    )
    assert (
        difference(sound(engine.begin(SENTENCE, seed=1)), sound(engine.begin(SENTENCE, seed=2)))
        > TOLERANCE
    )
    one, other = sound(engine.begin(SENTENCE)), sound(engine.begin(SENTENCE))
    assert difference(one, other) > TOLERANCE


def test_speakers_sound_different(load: Load) -> None:
    engine = load("speakers", num_speakers=3)
    one = sound(engine.begin(SENTENCE, scales=QUIET, speaker=0))
    other = sound(engine.begin(SENTENCE, scales=QUIET, speaker=2))
    assert len(one) == len(other)
    assert difference(one, other) > 1e-3


def test_length_stretches(load: Load) -> None:
    engine = load("steady")
    slow = engine.begin(SENTENCE, scales=Scales(0.0, 3.0, 0.0))
    assert slow.frames > 2 * engine.begin(SENTENCE, scales=QUIET).frames


def test_pieces_follow_each_other_and_the_end_is_marked(load: Load) -> None:
    utterance = load("plain").begin(SENTENCE * 4, seed=1, schedule=(8, 16))
    pieces = list(utterance.pieces())
    assert len(pieces) > 3
    assert [piece.last for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    at = 0
    for piece in pieces:
        assert piece.start_sample == at
        at += len(piece.samples)
    assert at == utterance.samples


def test_phonemes_end_where_their_durations_say(load: Load) -> None:
    utterance = load("plain").begin(SENTENCE, seed=1)
    assert utterance.ends is not None
    assert len(utterance.ends) == len(SENTENCE)
    assert utterance.ends[-1] == utterance.samples
    assert (np.diff(utterance.ends) >= 0).all()


def test_stop_is_asked_before_every_piece(load: Load) -> None:
    asked = 0

    def stop_at_third() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    pieces = list(load("plain").begin(SENTENCE * 8, schedule=(8,)).pieces(stop_at_third))
    assert (len(pieces), asked) == (2, 3)
    assert not pieces[-1].last


def test_nothing_is_decoded_before_it_is_asked_for(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    until = SteppedDecoding.until

    def counted(self: SteppedDecoding, stop: int) -> Block:
        runs.append(stop)
        return until(self, stop)

    engine = load("plain")
    monkeypatch.setattr(SteppedDecoding, "until", counted)
    pieces = engine.begin(SENTENCE * 8, schedule=(8,)).pieces()
    assert runs == []
    next(pieces)
    assert runs == [8]
    pieces.close()  # type: ignore[attr-defined]
    assert runs == [8]


def test_threads_share_an_engine(load: Load) -> None:
    engine = load("plain")
    alone = [sound(engine.begin(SENTENCE, seed=seed)) for seed in range(4)]
    together: dict[int, Block] = {}

    def speak(seed: int) -> None:
        together[seed] = sound(engine.begin(SENTENCE, seed=seed, schedule=(3,)))

    threads = [threading.Thread(target=speak, args=(s,), daemon=True) for s in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(difference(alone[seed], together[seed]) <= TOLERANCE for seed in range(4))


def test_settings_of_the_config_are_used(load: Load) -> None:
    streaming = {"context_margin": 40, "first_chunk": 5, "next_chunk": 9}
    engine = load("pooled", engine_params={"streaming": streaming})
    assert engine.pace.schedule == (5, 9)
    assert (
        difference(
            sound(engine.begin(SENTENCE, seed=1)),
            sound(engine.begin(SENTENCE, seed=1, schedule=(999,))),
        )
        <= TOLERANCE
    )
    sizes = [len(p.samples) // 8 for p in engine.begin(SENTENCE, seed=1).pieces()]
    assert sizes[:2] == [5, 9]


def test_short_sentences_may_be_decoded_at_once(load: Load) -> None:
    engine = load("plain", engine_params={"streaming": {"fallback_frames": 100_000}})
    assert len(list(engine.begin(SENTENCE * 8).pieces())) == 1


@pytest.mark.parametrize("ids", [[], ()])
def test_no_phonemes_are_an_error(load: Load, ids: list[int]) -> None:
    with pytest.raises(SpeechError, match="nothing to say"):
        load("steady").begin(ids)


def test_a_voice_that_cannot_be_cut_speaks_in_one_piece(
    load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        engine = load("foreign")
    assert isinstance(engine, OneShotEngine)
    assert "foreign.onnx cannot stream" in caplog.text
    assert "not a HiFi-GAN" in caplog.text
    utterance = engine.begin(SENTENCE, scales=QUIET)
    pieces = list(utterance.pieces())
    assert len(pieces) == 1
    assert pieces[0].last
    assert utterance.ends is None
    with pytest.raises(SpeechError, match="nothing to say"):
        engine.begin([])


def test_a_model_that_is_no_voice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VitsVoiceError, match="no such file or folder"):
        load_engine(tmp_path / "none")
    with pytest.raises(VitsVoiceError, match=r"expected one \.onnx"):
        load_engine(tmp_path)
    (tmp_path / "voice.json").write_text(json.dumps({"phoneme_id_map": IDS}))
    (tmp_path / "voice.onnx").write_bytes(b"no")
    with pytest.raises((VitsFileError, CutError)):
        load_engine(tmp_path)
