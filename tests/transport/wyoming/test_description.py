"""What the server says that it can do, as the official package reads it."""

from __future__ import annotations

from wyoming.info import Info

from s2s.transport.wyoming.description import described
from tests.support.serving import Voice
from tests.support.wyoming import fake_wyoming


def test_every_service_names_its_models_and_their_languages() -> None:
    services = fake_wyoming(stt_name="ear", stt_languages=("en", "de"), llm_name="writer")
    info = Info.from_event(described(services).event())
    assert info.asr[0].models[0].name == "ear"
    assert info.asr[0].models[0].languages == ["en", "de"]
    assert info.handle[0].models[0].name == "writer"
    assert info.handle[0].models[0].languages == []
    assert not info.handle[0].supports_home_control
    assert info.tts[0].voices[0].languages == ["en"]
    programs = [*info.asr, *info.tts, *info.handle, *info.wake]
    assert len(programs) == 4
    assert all(program.installed and program.version for program in programs)


def test_a_voice_without_a_name_has_one_and_without_wake_words_there_is_no_such_service() -> None:
    services = fake_wyoming(synthesizer=Voice(voices=()), wake_words={})
    info = Info.from_event(described(services).event())
    assert [voice.name for voice in info.tts[0].voices] == ["default"]
    assert info.wake == []
