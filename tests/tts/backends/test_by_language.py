"""Models by language, loaded behind the first one, in simulated time."""

from __future__ import annotations

import threading

import pytest

from s2s.tts.backends.by_language import ByLanguage
from s2s.tts.base import TtsError


class Loads:
    """Loads when it is let; remembers in which order."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.let = threading.Event()

    def __call__(self, code: str) -> str:
        if self.order:  # the first is loaded by the caller
            assert self.let.wait(60)
        self.order.append(code)
        if code == "xx":
            raise TtsError("no such file")
        return code.upper()


def test_the_first_is_there_at_once_and_the_others_follow() -> None:
    loads = Loads()
    models = ByLanguage(("de", "fr", "es"), loads)
    assert models.get(None) == "DE"
    assert models.get("de") == "DE"
    assert not models.prepare("fr")
    loads.let.set()
    assert models.get("es") == "ES"
    assert models.get("fr") == "FR"
    assert models.prepare("fr")
    assert models.codes == ("de", "fr", "es")
    assert sorted(loads.order) == ["de", "es", "fr"], "each once"
    models.close()
    models.close()
    with pytest.raises(TtsError, match="closed"):
        models.get("de")


def test_one_that_cannot_be_loaded_fails_when_it_is_asked_for() -> None:
    loads = Loads()
    loads.let.set()
    models = ByLanguage(("de", "xx", "fr"), loads)
    assert models.get("fr") == "FR"
    for _ in range(2):
        with pytest.raises(TtsError, match="no such file"):
            models.get("xx")
    with pytest.raises(TtsError, match="no voice for 'sv'; there are de, xx, fr"):
        models.get("sv")
    models.close()
    loads.order.clear()
    with pytest.raises(TtsError, match="no such file"):
        ByLanguage(("xx",), loads)


def test_a_language_that_was_not_named_is_loaded_once_it_is_asked_for() -> None:
    loads = Loads()
    models = ByLanguage(("de",), loads)
    assert not models.prepare("fr"), "it does not wait"
    assert not models.prepare("fr")
    loads.let.set()
    assert models.get("fr") == "FR", "being loaded, it is waited for"
    assert models.prepare("fr")
    assert not models.prepare("es"), "a second one, after the thread of the first has ended"
    assert models.get("es") == "ES"
    assert loads.order == ["de", "fr", "es"]
    assert models.codes == ("de",)
    models.close()
    assert not models.prepare("it")


def test_what_could_not_be_loaded_is_told_once_and_not_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loads = Loads()
    loads.let.set()
    models = ByLanguage(("de",), loads)
    models.prepare("xx")
    with pytest.raises(TtsError, match="no such file"):
        models.get("xx")
    assert not models.prepare("xx")
    models.close()
    assert loads.order == ["de", "xx"]
    warned = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert warned == ["the voice of xx cannot be loaded: no such file"]


def test_closing_does_not_wait_for_what_was_not_begun() -> None:
    loads = Loads()
    models = ByLanguage(("de", "fr", "es"), loads)
    loads.let.set()
    models.close()
    assert len(loads.order) <= 3


def test_one_language_needs_no_thread() -> None:
    before = threading.active_count()
    models = ByLanguage(("de", "de"), str.upper)
    assert threading.active_count() == before
    models.close()
