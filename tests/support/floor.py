"""A floor that notes what it is told to do."""

from __future__ import annotations

from s2s.core.messages import TurnId


class NotedFloor:
    """The assistant is silent, or with `playing` says `spoken`; `done` is what it was told to do,
    in order."""

    def __init__(self, spoken: str = "", *, playing: bool = False) -> None:
        self.playing = playing
        self.asks = False
        self.half_duplex = False
        self.can_take_back = False
        self.done: list[str] = []
        self._spoken = spoken.split()

    def is_own_voice(self, text: str) -> bool:
        return len(text.split()) >= 3 and not self.other_words(text)

    def other_words(self, text: str) -> str:
        return " ".join(word for word in text.split() if word not in self._spoken)

    def own_voice_heard(self) -> None:
        self.done.append("own voice")

    def duck(self) -> None:
        self.done.append("duck")

    def restore(self) -> None:
        self.done.append("restore")

    def pause(self) -> None:
        self.done.append("pause")

    def interrupt(self) -> None:
        self.done.append("interrupt")

    def forget(self, turn: TurnId) -> None:
        self.done.append(f"forget {turn.turn_id}")

    def take_back(self) -> None:
        self.done.append("take back")
