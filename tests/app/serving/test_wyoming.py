"""What the Wyoming protocol is served with: names, languages, wake words; beside `serve`, and on
the embedded models."""

from __future__ import annotations

import io
import threading
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from wyoming.asr import Transcribe, Transcript
from wyoming.event import Event
from wyoming.handle import Handled
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize
from wyoming.wake import Detect, Detection

from s2s.app.loading import close_models, load_models
from s2s.app.serving import wyoming
from s2s.app.serving.wyoming import (
    WHISPER,
    WyomingUnavailable,
    addresses,
    beside,
    check_wyoming,
    languages_heard,
    tell_wyoming,
    wake_words,
    wyoming_services,
)
from s2s.bench.load.served import ANSWER, models_at_once
from s2s.config import loader
from s2s.config.schema import Config
from s2s.core.audio import PIPELINE_HZ, Block, from_int16, read_wav, resample
from s2s.models.store import Store
from s2s.stt.sherpa import SherpaConfig
from s2s.transport.wyoming.config import WyomingConfig
from s2s.transport.wyoming.port import WyomingError
from tests.support.recordings import DATA
from tests.support.wyoming import as_events, exchange, wyoming_served

NAMES = {"an-llm": "llm", "an-ear": "stt", "a-voice": "tts"}


def sound_of(events: list[Event], rate_hz: int) -> Block:
    """What was spoken, at 16 kHz, with silence around it."""
    pcm = b"".join(event.payload or b"" for event in events)
    said = from_int16(np.frombuffer(pcm, "<i2").astype(np.int16))
    around = np.zeros(PIPELINE_HZ, np.float32)
    return np.concatenate([around, resample(said, rate_hz, PIPELINE_HZ), around])


def quiet_console() -> Console:
    return Console(file=io.StringIO())


def test_services_carry_the_names_of_the_models() -> None:
    services = wyoming_services(Config(), models_at_once(), NAMES)
    assert (services.llm_name, services.stt_name, services.tts_name) == (
        "an-llm",
        "an-ear",
        "a-voice",
    )
    assert services.stt_languages == ("en",)


def test_languages_are_those_of_the_recogniser_or_the_one_that_is_spoken() -> None:
    config = Config()
    assert languages_heard(config) == ("en",)
    other = replace(config, stt=replace(config.stt, backend="faster-whisper"))
    assert languages_heard(other) == WHISPER
    assert len(WHISPER) == len(set(WHISPER)) > 90
    german = replace(other, session=replace(other.session, language="de"))
    assert languages_heard(german) == ("de",)
    of_sherpa = replace(config.stt, backend="sherpa", options=SherpaConfig(language="fr"))
    assert languages_heard(replace(config, stt=of_sherpa)) == ("fr",)
    assert languages_heard(replace(german, stt=of_sherpa)) == ("fr",)


def test_a_wake_word_of_ones_own_has_the_name_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wyoming, "builtin_names", tuple)
    config = Config()
    own = replace(config, models=replace(config.models, wake_word="words/hello.json"))
    models = models_at_once()
    assert wake_words(own, models) == {}
    loud = object()
    assert wake_words(own, replace(models, wake_word=loud)) == {"hello": loud}  # pyright: ignore


def test_others_reach_it_where_it_listens() -> None:
    assert addresses("127.0.0.1") == addresses("::1") == addresses("localhost") == []
    assert addresses("192.168.1.7") == ["192.168.1.7"]
    assert "127.0.0.1" not in addresses("0.0.0.0")


def test_it_is_told_where_it_is() -> None:
    console = quiet_console()
    tell_wyoming(console, WyomingConfig(), 1)
    tell_wyoming(console, WyomingConfig(host="192.168.1.7", allow=("private",)), 2)
    told = console.file.getvalue()  # pyright: ignore
    assert "tcp://127.0.0.1:1\nOnly this machine reaches it" in told
    assert "tcp://192.168.1.7:2\nHome Assistant finds it" in told


def test_what_is_missing_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    check_wyoming(WyomingConfig())
    monkeypatch.setattr(wyoming, "NEEDED", ("nothing_of_that_name",))
    with pytest.raises(WyomingUnavailable, match=r"pip install 's2s\[wyoming\]'"):
        check_wyoming(WyomingConfig())


def test_beside_serve_it_is_served_where_it_is_wanted() -> None:
    console = quiet_console()
    before = threading.active_count()
    with beside(Config(), models_at_once(), NAMES, console):
        assert threading.active_count() == before
    wanted = WyomingConfig(enabled=True, port=0)
    with beside(replace(Config(), wyoming=wanted), models_at_once(), NAMES, console):
        port = int(console.file.getvalue().splitlines()[0].rpartition(":")[2])  # pyright: ignore
        assert exchange(port, [Describe()], "info")
        with (
            pytest.raises(WyomingError, match="another port"),
            beside(
                replace(Config(), wyoming=replace(wanted, port=port)),
                models_at_once(),
                NAMES,
                console,
            ),
        ):
            pass


def test_a_question_is_answered_by_a_session_like_any_other() -> None:
    with wyoming_served(wyoming_services(Config(), models_at_once(), NAMES)) as port:
        handled = Handled.from_event(exchange(port, [Transcript("hello")], "handled")[-1])
        assert handled.text == ANSWER


@pytest.mark.models
def test_the_embedded_models_hear_speak_wake_and_answer() -> None:
    pytest.importorskip("pymicro_wakeword")
    config = loader.load()
    models = load_models(config, Store(), lambda _: None)
    try:
        services = wyoming_services(config, models, NAMES)
        with wyoming_served(services) as port:
            info = Info.from_event(exchange(port, [Describe()], "info")[0])
            assert {"okay_nabu", "hey_jarvis"} <= {each.name for each in info.wake[0].models}
            sound, _ = read_wav(DATA / "goforward.wav", PIPELINE_HZ)
            heard = exchange(port, [Transcribe(), *as_events(sound)], "transcript")
            text = Transcript.from_event(heard[-1]).text
            assert "forward" in text.lower()
            assert exchange(port, [Transcript("Say hello.")], "handled")[-1].data["text"]
            events = exchange(port, [Synthesize("Hey Jarvis.")], "audio-stop")
            rate_hz = int(events[0].data["rate"])
            assert sum(len(event.payload or b"") for event in events) > rate_hz
            woken = exchange(
                port, [Detect(["hey_jarvis"]), *as_events(sound_of(events, rate_hz))], "detection"
            )
            assert Detection.from_event(woken[-1]).name == "hey_jarvis"
    finally:
        close_models(models)
