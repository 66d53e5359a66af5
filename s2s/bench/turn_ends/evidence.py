"""What the witnesses say at every pause of a turn: sound, words, language model.

The turns of a folder are heard with the real voice detector, segmenter, end-of-turn model,
recogniser and language model, at the very sample positions of `s2s.turns.handler`. That takes
minutes, so what was found is kept in FOLDER/witnesses.json, written after every turn; remove it
after changing anything but the policy.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from s2s.bench.entry import existing_folder, run_measurement
from s2s.bench.turn_audio import Turn, read_turns
from s2s.core.audio import BLOCK_SAMPLES, PIPELINE_HZ, Block, Framer
from s2s.llm.base import ChatMessage
from s2s.llm.llama import LlamaChat, LlamaConfig
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.session.config import SessionConfig
from s2s.stt.moonshine import Moonshine, MoonshineConfig
from s2s.turns.endpoint import EndOfTurn
from s2s.turns.segmenter import ProvisionalEnd, Resumed, Segmenter, Started
from s2s.turns.vad import SileroVad

T = TypeVar("T")

WINDOW_MS = 1000 * BLOCK_SAMPLES // PIPELINE_HZ
SILENCES_MS = tuple(WINDOW_MS * windows for windows in (1, 6, 10, 13, 20, 31, 42))
"""Silence after which the sound is judged: more positions than the handler uses."""


@dataclass(frozen=True, slots=True)
class HeardPause:
    """One pause of a turn, and what was found there. Samples of the turn's audio."""

    turn: str
    kind: str
    """"end"; "cut" for silence that was cut in; "natural" for the speaker's own."""
    end: int
    """One past the last speech, as the segmenter found it."""
    noticed: int
    """One past the window in which it was found."""
    back: int | None
    """One past the window in which speech was back; None at the end of the turn."""
    true_end: int
    """One past the last sound of the turn."""
    sound: dict[int, float]
    """Silence in ms -> log-odds of the end-of-turn model; those before speech was back."""
    text: str
    """What the recogniser made of the turn up to the first window of silence."""
    model: float | None
    """Log-odds of the language model for `text`."""

    def sound_after(self, silence_ms: int) -> float | None:
        """What was heard after so much silence, or as soon as a click in it was over; None where
        speech was back."""
        return self.sound.get(min((ms for ms in self.sound if ms >= silence_ms), default=0))


@dataclass(slots=True)
class _Found:
    """A pause whose models were not asked yet."""

    end: int
    noticed: int
    early: Block
    later: dict[int, Block]
    back: int | None = None


class Witnesses:
    """The models, loaded. One thread at a time."""

    def __init__(
        self, threads: int, chat_model: str, silences_ms: Sequence[int] = SILENCES_MS
    ) -> None:
        self._silences_ms = silences_ms
        store = Store()
        resources = Resources(store, threads)
        self._vad = SileroVad(store.path("silero-vad"), threads=threads)
        self._sound = EndOfTurn(store.path("smart-turn-v3"), threads=threads)
        self._words = Moonshine(MoonshineConfig(), resources)
        self._chat = LlamaChat(LlamaConfig(model=chat_model), resources)
        self._system = ChatMessage("system", SessionConfig().system_prompt)
        self.took_ms: dict[str, list[float]] = {"sound": [], "words": [], "model": []}

    def hear(self, turn: Turn, history: Sequence[ChatMessage] = ()) -> list[HeardPause]:
        """The pauses of `turn`, said after `history`."""
        pauses: list[HeardPause] = []
        for found in self._pauses(turn):
            text = self._timed(
                "words", lambda f=found: self._words.transcribe(f.early, language="en").text
            )
            said = [self._system, *history, ChatMessage("user", text.strip())]
            model = self._timed("model", lambda s=said: self._chat.ending(s)) if text else None
            zero = np.zeros(BLOCK_SAMPLES, np.float32)
            heard = {WINDOW_MS: np.concatenate([found.early, zero]), **found.later}
            sound = {
                ms: self._timed("sound", lambda a=audio: _log_odds(self._sound.probability(a)))
                for ms, audio in heard.items()
            }
            pauses.append(
                HeardPause(
                    turn.name, _kind(turn, found), found.end, found.noticed, found.back,
                    turn.speech_end, sound, text, model,
                )
            )  # fmt: skip
        return pauses

    def _pauses(self, turn: Turn) -> list[_Found]:
        vad, segmenter = self._vad.open(), Segmenter()
        found: list[_Found] = []
        early: Block | None = None
        for block in Framer(BLOCK_SAMPLES).push(turn.audio):
            events = segmenter.push(block, vad.probability(block))
            silent_ms = 1000 * segmenter.silent_samples // PIPELINE_HZ
            if segmenter.speaking and silent_ms == WINDOW_MS:
                early = segmenter.audio()
            for event in events:
                match event:
                    case Started():
                        found.clear()  # what came before was a click
                    case Resumed():
                        found[-1].back = event.sample + BLOCK_SAMPLES
                    case ProvisionalEnd():
                        if early is None:  # the window that began the speech was silent already
                            early = segmenter.audio()[:-BLOCK_SAMPLES]
                        found.append(_Found(event.end_sample, segmenter.sample, early, {}))
                        early = None
                    case _:
                        pass
            paused = segmenter.open and not segmenter.speaking and found
            since_ms = 1000 * (segmenter.sample - found[-1].end) // PIPELINE_HZ if paused else 0
            if paused and since_ms in self._silences_ms and segmenter.silent_samples > 0:
                found[-1].later[since_ms] = segmenter.audio()
        for one in found:
            if one.back is not None:
                limit_ms = 1000 * (one.back - BLOCK_SAMPLES - one.end) // PIPELINE_HZ
                one.later = {ms: audio for ms, audio in one.later.items() if ms <= limit_ms}
        return found

    def _timed(self, name: str, work: Callable[[], T]) -> T:
        begun = time.perf_counter()
        result = work()
        self.took_ms[name].append(1000 * (time.perf_counter() - begun))
        return result

    def close(self) -> None:
        self._chat.close()
        self._words.close()


def _kind(turn: Turn, found: _Found) -> str:
    if found.back is None:
        return "end"
    cut = any(pause.start < found.back and found.end < pause.end for pause in turn.pauses)
    return "cut" if cut else "natural"


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-4), 1.0 - 1e-4)
    return float(np.log(bounded / (1.0 - bounded)))


def gather(
    folder: Path,
    threads: int = 1,
    chat_model: str = "smollm2-135m",
    seconds: float = float("inf"),
    silences_ms: Sequence[int] = SILENCES_MS,
) -> bool:
    """Hear the turns of `folder` that were not heard yet; true when none is left.

    `seconds`: stop after so long; the next call goes on. `silences_ms`: where the sound is judged,
    beside the first window of silence. Turns are heard by variants, so that those heard so far are
    of as many recordings as can be.
    """
    kept = folder / "witnesses.json"
    pauses = read(folder) if kept.is_file() else []
    done = {pause.turn for pause in pauses}
    left = [turn for turn in read_turns(folder) if turn.name not in done]
    left.sort(key=lambda turn: turn.name.rpartition("_")[2])
    if not left:
        return True
    witnesses = Witnesses(threads, chat_model, silences_ms)
    begun = time.monotonic()
    for turn in left:
        if time.monotonic() - begun > seconds:
            break
        pauses += witnesses.hear(turn)
        kept.write_text(json.dumps([asdict(pause) for pause in pauses]))
    else:
        left = []
    print(
        {name: round(statistics.median(ms), 1) for name, ms in witnesses.took_ms.items() if ms},
        len(pauses),
        "pauses",
    )
    witnesses.close()
    return not left


def read(folder: Path) -> list[HeardPause]:
    """What `gather` kept."""
    stored: list[dict[str, Any]] = json.loads((folder / "witnesses.json").read_text())
    for one in stored:
        one["sound"] = {int(ms): odds for ms, odds in one["sound"].items()}
    return [HeardPause(**one) for one in stored]


def main() -> None:
    parser = argparse.ArgumentParser(description="Hear turns with all three witnesses.")
    parser.add_argument(
        "folder", type=existing_folder, nargs="+", help="folders of make_turn_audio.py"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads a model may use")
    parser.add_argument("--chat-model", default="smollm2-135m", help="the model that reads along")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument(
        "--first-alone", action="store_true", help="judge the sound once a pause: thrice as quick"
    )
    arguments = parser.parse_args()
    silences_ms = () if arguments.first_alone else SILENCES_MS
    for folder in arguments.folder:
        if not gather(
            folder, arguments.threads, arguments.chat_model, arguments.seconds, silences_ms
        ):
            raise SystemExit(f"{folder}: not all was heard yet; the next call goes on")


if __name__ == "__main__":
    sys.exit(run_measurement(main))
