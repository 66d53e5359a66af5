"""Which part of a text has been spoken at which sample, and how much sound is ahead of the
listener. The history needs the former to be true.

Exact where the backend tells (word timing, or a chunk a sentence); in between, and for a backend
that does not tell, in proportion. Knows nothing about models.
"""

from __future__ import annotations

from bisect import bisect_right


class SpokenText:
    """Positions in one utterance.

    Args:
        chars: length of the spoken text.
        expected_samples: estimated length of its sound at the backend's rate, for backends that
            do not tell.
    """

    def __init__(self, chars: int, expected_samples: int) -> None:
        self._chars = chars
        self._expected = max(1, expected_samples)
        self._samples = [0]
        self._positions = [0]
        self._finished = False

    def reads_on(self, chars: int, expected_samples: int) -> None:
        """The text has become so long, and so its sound, while it is spoken."""
        self._chars, self._expected = chars, max(1, expected_samples)

    def add(self, samples: int, spoken_chars: int | None) -> None:
        """A chunk of `samples` came, the end of `spoken_chars` of the text (None: unknown)."""
        end = self._samples[-1] + samples
        if spoken_chars is None:
            spoken_chars = int(self._chars * min(1.0, end / self._expected))
        self._samples.append(end)
        self._positions.append(min(max(spoken_chars, self._positions[-1]), self._chars))

    def finish(self) -> None:
        """All of the sound came: at its end all of the text is spoken."""
        self._finished = True
        self._positions[-1] = self._chars

    def at(self, sample: int) -> int:
        """Characters spoken once `sample` samples have been heard."""
        index = bisect_right(self._samples, sample)
        if index == len(self._samples):
            return self._positions[-1]
        before, after = self._samples[index - 1], self._samples[index]
        share = (sample - before) / (after - before)
        start, end = self._positions[index - 1], self._positions[index]
        return start + int(share * (end - start))


class SoundAhead:
    """How much sound of an answer waits to be played, by the clock: from its first block on it is
    played without a pause, as long as there is some."""

    _LEAST_S = 0.3
    """Of sound: less is gone when a message is late."""
    _CHUNKS = 2.0
    """What making a chunk took so many times over: the next may take longer."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._played_s = 0.0
        self._cost_s = 0.0

    def leaves(self, samples: int, now_s: float) -> None:
        """So many more were handed on to be played."""
        self._played_s = max(self._played_s, now_s) + samples / self._rate_hz

    def took(self, work_s: float) -> None:
        """Making the last chunk took so long."""
        self._cost_s = work_s

    def is_enough(self, now_s: float) -> bool:
        """The next chunk can wait for other work."""
        return self._played_s - now_s > self._LEAST_S + self._CHUNKS * self._cost_s


def whole_words(text: str, chars: int) -> str:
    """The longest prefix of `text` up to `chars` that does not end inside a word."""
    if chars >= len(text):
        return text
    cut = max(0, chars)
    while cut > 0 and text[cut - 1 : cut + 1].isalnum() and len(text[cut - 1 : cut + 1]) == 2:
        cut -= 1
    return text[:cut]
