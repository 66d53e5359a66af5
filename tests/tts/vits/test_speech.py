"""Text to sound: sentences, silence, speakers, words. Letters are the phonemes here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.tts.vits import Manner, Scales, VitsVoice, VitsVoiceError, load_voice
from tests.support.vits import voice_folder

QUIET = Manner(scales=Scales(0.0, 1.0, 0.0), seed=1)


def make_voice(folder: Path, name: str = "plain", **fields: object) -> VitsVoice:
    return load_voice(voice_folder(folder, name, **fields), threads=1)


@pytest.fixture
def voice(tmp_path: Path) -> VitsVoice:
    return make_voice(tmp_path / "voice")


def test_words_are_told_in_order_and_once(voice: VitsVoice) -> None:
    text = "Well, this is one. And that is two!"
    sounds = list(voice.speak(text.lower(), QUIET))
    words = [word for sound in sounds for word in sound.words]
    assert [text[w.start_char : w.end_char] for w in words] == text.split()
    total = sum(len(sound.samples) for sound in sounds)
    times = [t for w in words for t in (w.start_sample, w.end_sample)]
    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] <= total


def test_a_word_is_told_with_the_piece_it_ends_in(voice: VitsVoice) -> None:
    heard = 0
    for sound in voice.speak("several words to be said here now", QUIET):
        begin, heard = heard, heard + len(sound.samples)
        assert all(begin < word.end_sample <= heard for word in sound.words)


def test_silence_is_between_sentences_only(voice: VitsVoice) -> None:
    one = sum(len(s.samples) for s in voice.speak("abc.", QUIET))
    sounds = list(voice.speak("abc. abc.", QUIET))
    gap = round(0.2 * voice.sample_rate_hz)
    assert sum(len(s.samples) for s in sounds) == 2 * one + gap
    assert [len(s.samples) for s in sounds if not s.samples.any()] == [gap]
    short = Manner(QUIET.speaker, QUIET.scales, 1, sentence_silence_s=0.0)
    assert sum(len(s.samples) for s in voice.speak("abc. abc.", short)) == 2 * one


def test_phonemes_with_silence_end_a_phrase(tmp_path: Path) -> None:
    pauses = {"phoneme_silence": {",": 0.1}}
    voice = make_voice(tmp_path / "pausing", inference=pauses)
    sounds = list(voice.speak("abc, abc", QUIET))
    gap = round(0.1 * voice.sample_rate_hz)
    assert [len(s.samples) for s in sounds if not s.samples.any()] == [gap]
    words = [word for sound in sounds for word in sound.words]
    assert [(w.start_char, w.end_char) for w in words] == [(0, 4), (5, 8)]
    assert words[1].start_sample - words[0].end_sample >= gap


def test_phonemes_given_directly_need_no_phonemizer(tmp_path: Path) -> None:
    voice = make_voice(tmp_path / "direct", phoneme_type="pinyin")
    with pytest.raises(VitsVoiceError, match="give phonemes instead"):
        list(voice.speak("abc"))
    direct = np.concatenate([s.samples for s in voice.speak_phonemes([list("abc.")], QUIET)])
    other = make_voice(tmp_path / "text")
    spoken = np.concatenate([s.samples for s in other.speak("abc.", QUIET)])
    assert np.array_equal(direct, spoken)


def test_unknown_phonemes_are_left_out_and_logged(
    voice: VitsVoice, caplog: pytest.LogCaptureFixture
) -> None:
    sounds = list(voice.speak("abßc", QUIET))
    assert "ß" in caplog.text
    words = [word for sound in sounds for word in sound.words]
    assert [(w.start_char, w.end_char) for w in words] == [(0, 4)]


def test_stop_ends_the_speech(voice: VitsVoice) -> None:
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 4

    sounds = list(voice.speak("one two three. " * 20, QUIET, stop=stop))
    assert 1 <= len(sounds) <= 4


@pytest.mark.parametrize("text", ["", "  \n "])
def test_nothing_to_say_is_no_sound(voice: VitsVoice, text: str) -> None:
    assert list(voice.speak(text)) == []


def test_an_unknown_speaker_is_an_error(voice: VitsVoice) -> None:
    with pytest.raises(VitsVoiceError, match="no speaker 'otto'"):
        list(voice.speak("abc", Manner(speaker="otto")))


def test_speakers_are_chosen_by_name(tmp_path: Path) -> None:
    fields = {"num_speakers": 3, "speaker_id_map": {"anna": 0, "otto": 2}}
    voice = make_voice(tmp_path / "many", "speakers", **fields)
    by_name = [
        np.concatenate([s.samples for s in voice.speak("abc.", Manner(name, QUIET.scales, 1))])
        for name in ("anna", "otto", "2")
    ]
    assert not np.array_equal(by_name[0], by_name[1])
    assert np.array_equal(by_name[1], by_name[2])
