"""Measure Qwen3-TTS in conversations: first sound after the first words, and that none is missing.

    python scripts/benchmark_qwen3_conversation.py --checkpoint FOLDER --voice ryan
    python scripts/benchmark_qwen3_conversation.py --checkpoint FOLDER --busy 0 --picture a.png

A row is a conversation of `s2s.bench.pipeline` in a process of its own: the embedded language model
and the voice together, in real time. For each quantisation of the code predictor: text fed while it
is written, and whole texts as the official package has them for named voices, each beside none and
one busy program; and the embedded voice for comparison. "first sound" is the time from the first
words that the voice was given (four of them where text is fed, the first clause otherwise) to the
first chunk of sound. Random weights have to end after a length that fits the text; what they say
means nothing. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from s2s.bench.busy import busy_programs
from s2s.bench.conditions import Conditions
from s2s.bench.entry import check_ended, run_measurement

ANSWER_TOKENS = 45
"""Answers are cut there: about 30 words."""
FIRST_SOUND_MS = (120.0, 200.0)
"""What the 50th and the 90th percentile may be."""
VOICE_RATIO = 1.25
"""Of voice to voice, to that of the embedded voice."""


@dataclass(frozen=True, slots=True)
class ConversationSetting:
    """What one conversation is spoken with."""

    label: str
    settings: tuple[str, ...]
    busy: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """What came of it; times in ms."""

    label: str
    busy: int
    turns: int
    answered: int
    first_sound_p50_ms: float
    first_sound_p90_ms: float
    voice_to_voice_p50_ms: float
    underruns: int
    peak_memory_mb: float

    def good(self) -> bool:
        """As good as it must be, by itself."""
        return (
            self.first_sound_p50_ms <= FIRST_SOUND_MS[0]
            and self.first_sound_p90_ms <= FIRST_SOUND_MS[1]
            and self.underruns == 0
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Converse, print; 0 when every row is as good as it must be."""
    options = parse(arguments)
    rows: list[Row] = []
    for setting in plan(options):
        picture = options.picture if not rows else None
        rows.append(converse(setting, options.turns, options.answer_tokens, picture))
        show(rows[-1])
    good = all(row.good() for row in rows if row.label != EMBEDDED)
    ratios = voice_ratios(rows)
    for label, ratio in ratios.items():
        print(f"{label}: voice to voice {ratio:.2f} times the embedded voice's")
    good = good and all(ratio <= VOICE_RATIO for ratio in ratios.values())
    told = {"benchmark": "qwen3 conversation", "rows": [asdict(row) for row in rows]}
    print(json.dumps({**told, "ratios": ratios, "good": good, **asdict(Conditions.here())}))
    return 0 if good else 1


EMBEDDED = "embedded voice"
FED, WHOLE = "fed", "whole texts"


def plan(options: argparse.Namespace) -> list[ConversationSetting]:
    """The rows, in order."""
    voice = [f"tts.voice={options.voice}"] if options.voice else []
    found: list[ConversationSetting] = []
    for predictor in options.predictor_quants:
        for text in options.text:
            fed = text == FED
            settings = (
                "tts.backend=qwen3",
                f"tts.model={options.checkpoint}",
                f"tts.quant={options.quant}",
                f"tts.predictor_quant={predictor}",
                f"tts.streaming_text={str(fed).lower()}",
                *voice,
            )
            label = f"{options.quant} + {predictor}, {text}"
            found += [ConversationSetting(label, settings, busy) for busy in options.busy]
    return [*found, ConversationSetting(EMBEDDED, ())] if options.embedded else found


def converse(
    setting: ConversationSetting, turns: int, answer_tokens: int, picture: Path | None
) -> Row:
    """One conversation.

    Raises:
        RuntimeError: it ended in an error; with its last words.
    """
    command = [sys.executable, "-m", "s2s.bench.pipeline", "--turns", str(turns)]
    command += ["--answer-tokens", str(answer_tokens), "--idle-seconds", "0"]
    for each in setting.settings:
        command += ["--set", each]
    if picture is not None:
        command += ["--answer-picture", str(picture)]
    with busy_programs(setting.busy):
        result = subprocess.run(command, capture_output=True, text=True)
    check_ended(f"{setting.label}: the conversation", result.returncode, result.stderr)
    found = json.loads(result.stdout.strip().splitlines()[-1])
    return Row(
        setting.label,
        setting.busy,
        found["turns"],
        found["answered"] + found["cut_off"],
        found["first_sound_p50_ms"],
        found["first_sound_p90_ms"],
        found["latency_p50_ms"],
        found["underruns"],
        found["peak_memory_mb"],
    )


def voice_ratios(rows: Sequence[Row]) -> dict[str, float]:
    """Voice to voice on the quiet machine, as so many times that of the embedded voice."""
    embedded = next((row for row in rows if row.label == EMBEDDED), None)
    if embedded is None:
        return {}
    return {
        row.label: round(row.voice_to_voice_p50_ms / embedded.voice_to_voice_p50_ms, 3)
        for row in rows
        if row is not embedded and not row.busy
    }


def show(row: Row) -> None:
    """Print one row."""
    verdict = "" if row.label == EMBEDDED else ("  good" if row.good() else "  not good enough")
    print(
        f"{row.label:34} busy {row.busy}  answered {row.answered}/{row.turns}  first sound p50 "
        f"{row.first_sound_p50_ms:.0f} p90 {row.first_sound_p90_ms:.0f} ms  voice to voice "
        f"{row.voice_to_voice_p50_ms:.0f} ms  underruns {row.underruns}  peak "
        f"{row.peak_memory_mb:.0f} MB{verdict}",
        flush=True,
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--checkpoint", required=True, metavar="FOLDER")
    parser.add_argument("--voice", default=None, help="a trained speaker, or an enrolled voice")
    parser.add_argument("--quant", default="q4_k_m", help="of the talker")
    parser.add_argument("--predictor-quants", nargs="+", default=["q8_0", "q4_k_m"])
    parser.add_argument("--text", nargs="+", choices=[FED, WHOLE], default=[FED, WHOLE])
    parser.add_argument(
        "--embedded", action=argparse.BooleanOptionalAction, default=True, help="compare with it"
    )
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 1], metavar="N")
    parser.add_argument("--turns", type=int, default=22, help="things the person says, each time")
    parser.add_argument("--answer-tokens", type=int, default=ANSWER_TOKENS, help="of each answer")
    parser.add_argument(
        "--picture", type=Path, default=None, metavar="FILE", help="PNG of one answer, first row"
    )
    found = parser.parse_args(arguments)
    if min(found.busy) < 0 or found.turns < 1:
        parser.error("--busy must be 0 or more, --turns at least 1")
    return found


if __name__ == "__main__":
    sys.exit(run_measurement(main))
