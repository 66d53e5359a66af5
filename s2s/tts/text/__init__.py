"""What is speakable: markdown, numbers, dates, addresses and signs become words."""

from s2s.tts.text.lexicon import Lexicon, LexiconError
from s2s.tts.text.speakable import speakable
from s2s.tts.text.stream import SpeakableStream
from s2s.tts.text.tracked import Spoken

__all__ = ["Lexicon", "LexiconError", "SpeakableStream", "Spoken", "speakable"]
