"""In which language a session's voice speaks: its own, or the one that was heard, if it lasts."""

from __future__ import annotations

from collections.abc import Callable

from s2s.tts.base import LanguageLoader, Synthesizer
from s2s.tts.language import StickyLanguage


class VoiceLanguage:
    """Chooses for one session.

    Args:
        synthesizer: who speaks.
        notice: tells the person that a voice is being loaded, or cannot be.
    """

    def __init__(self, synthesizer: Synthesizer, notice: Callable[[str], None]) -> None:
        self._notice = notice
        self._loader = synthesizer if isinstance(synthesizer, LanguageLoader) else None
        self._waited: set[str] = set()
        languages = synthesizer.capabilities.languages
        self._languages = languages
        self._sticky: StickyLanguage | None = None
        if len(languages) > 1 or (languages and self._loader is not None):
            loader = None if self._loader is None else self
            self._sticky = StickyLanguage(languages, languages[0], loader)

    @property
    def languages(self) -> tuple[str, ...]:
        """What the voice speaks, with what was loaded for this session."""
        return self._languages if self._sticky is None else self._sticky.known

    def current(self, heard: str | None) -> str | None:
        """What is spoken now, where nothing was chosen yet of a text to a question in `heard`."""
        return heard if self._sticky is None else self._sticky.current

    def choose(self, text: str, heard: str | None, turn_id: str) -> str | None:
        """The code to speak `text` in; see `StickyLanguage`. None: the voice names no languages,
        and none was heard."""
        if self._sticky is None:
            return self._languages[0] if self._languages else heard
        return self._sticky.choose(text, heard, turn_id)

    def reset(self) -> None:
        """Forget the session."""
        self._waited.clear()
        if self._sticky is not None:
            self._sticky.reset()

    def offers(self, language: str) -> bool:
        """See `LanguageLoader`."""
        return self._loader is not None and self._loader.offers(language)

    def prepare(self, language: str) -> bool:
        """See `LanguageLoader`. The first time that a voice is not here is told."""
        if self._loader is None or self._loader.prepare(language):
            return True
        if language not in self._waited:
            self._waited.add(language)
            self._notice(
                f"the voice for {language} is not loaded yet; until it is, "
                f"{self.current(None)} goes on"
            )
        return False
