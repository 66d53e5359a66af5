"""Measure conversations beside an open loudspeaker: does the assistant interrupt itself, and can it
be interrupted?

    python scripts/benchmark_open_speakers.py --prompts FOLDER
    python scripts/benchmark_open_speakers.py --prompts FOLDER --canceller on
    python scripts/benchmark_open_speakers.py --prompts FOLDER --without threshold

The whole pipeline runs in simulated time with the real voice detector and the real recogniser, each
of whose calls takes a set time, so that every run gives the same. The assistant's answers, spoken
by a synthetic voice or by a human one (rapid, real speech), go through a model of a loudspeaker:
without bass, clipped, 30 to 300 ms late and drifting, with reverberation. Without a canceller the
echo is -6 to -20 dB against the person (all of it is residual echo); with one, it is 6 dB above to
6 dB below the person in front of the canceller. People are the prompts of Allison Smith (see
make_turn_audio.py) and the LibriVox recordings; synthetic ones are counted apart.

--without switches one defence off: the bar that rises with the expected echo (and quietens what is
below it), the noise floor that is frozen during playback, or the assistant's own words that do not
count. With --enrolled the person's voice is enrolled: speech that is more like another's, as the
assistant's own is, counts against an interruption.

In a conversation nobody speaks over three answers, or somebody does over the first or the second.
Prints each mistake, a table of rates with their 95 % intervals and, last, one line of JSON. Needs
the models of the embedded profile, and av for the prompts.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from s2s.bench.conditions import Conditions
from s2s.bench.entry import existing_folder
from s2s.bench.open_speakers.conversation import SceneOutcome, SpeakerBench
from s2s.bench.open_speakers.material import SELF_ANSWERS, Kind, Scene, material, scenes
from s2s.core.metrics import percentile
from s2s.models.store import Store


class Kept:
    """Outcomes in a file, a line each."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._outcomes: dict[str, SceneOutcome] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                kept = json.loads(line)
                scene = kept.pop("scene")
                self._outcomes[scene] = SceneOutcome(**kept)

    def get(self, scene: Scene) -> SceneOutcome | None:
        return self._outcomes.get(f"{scene.kind} {scene.number}")

    def put(self, scene: Scene, outcome: SceneOutcome) -> SceneOutcome:
        if self._path is not None:
            with self._path.open("a") as file:
                line = {"scene": f"{scene.kind} {scene.number}", **asdict(outcome)}
                file.write(json.dumps(line) + "\n")
        return outcome


# --- the report ----------------------------------------------------------------------------------


def interval(count: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate."""
    if not of:
        return (0.0, 1.0)
    z, share = 1.96, count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return (max(0.0, middle - half), min(1.0, middle + half))


def report(done: Sequence[tuple[Scene, SceneOutcome]]) -> dict[str, float]:
    """Prints the rates; returns them by name."""
    figures: dict[str, float] = {}

    def tell(name: str, count: int, of: int) -> None:
        low, high = interval(count, of)
        print(f"{name:>40} {count:4d} of {of:4d}  {count / max(1, of):6.1%}  "
              f"[{low:.1%}, {high:.1%}]")  # fmt: skip
        figures[name] = count / max(1, of)

    quiet = [outcome for scene, outcome in done if scene.kind == "nobody"]
    answers = SELF_ANSWERS * len(quiet)
    tell("answers interrupted by themselves", sum(o.self_interrupted for o in quiet), answers)
    tell("ducked by themselves", sum(o.ducks for o in quiet), answers)
    for kind in ("person", "stop", "synthetic stop"):
        for name, warm in (("first answer", False), ("later answer", True)):
            of_kind = [o for t, o in done if t.kind == kind and t.warm is warm]
            tell(f"{kind}, {name}", sum(o.right for o in of_kind), len(of_kind))
        every = [o for t, o in done if t.kind == kind]
        tell(f"{kind} stopped it", sum(o.right for o in every), len(every))
        stops = [o.stop_ms for o in every if o.right and o.stop_ms is not None]
        for share in (0.5, 0.9):
            if stops:
                figures[f"{kind} stop_ms_p{share * 100:.0f}"] = percentile(stops, share)
    tell("ended in half duplex", sum(o.half_duplex for _, o in done), len(done))
    errors = [abs(o.delay_error_ms) for _, o in done if o.delay_error_ms is not None]
    tell("delay known within 24 ms", sum(error <= 24 for error in errors), len(done))
    for share in (0.1, 0.5, 0.9):
        name = f"residual_db_p{share * 100:.0f}"
        figures[name] = percentile([o.residual_db for _, o in done], share)
    for name, value in figures.items():
        if "_p" in name:
            print(f"{name:>40} {value:8.1f}")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure conversations beside a loudspeaker.")
    parser.add_argument(
        "--prompts", type=existing_folder, required=True, help="unpacked Debian packages"
    )
    parser.add_argument("--canceller", choices=("on", "off"), default="off")
    parser.add_argument(
        "--without", choices=("threshold", "noise", "words"), help="a defence that is switched off"
    )
    parser.add_argument("--enrolled", action="store_true", help="the person's voice is enrolled")
    parser.add_argument("--answers", type=int, default=201, help="that nobody speaks over")
    parser.add_argument("--people", type=int, default=100, help="that somebody speaks over")
    parser.add_argument("--stops", type=int, default=40, help="of each kind of stop")
    parser.add_argument("--keep", type=Path, help="file of outcomes: a run goes on where it ended")
    options = parser.parse_args()
    store = Store()
    said = material(options.prompts, store)
    kinds: list[tuple[Kind, int]] = [
        ("nobody", options.answers // SELF_ANSWERS),
        ("person", options.people),
        ("stop", options.stops),
        ("synthetic stop", options.stops),
    ]
    levels_db = (-20.0, -6.0) if options.canceller == "off" else (-6.0, 6.0)
    bench = SpeakerBench(store, options.canceller, options.without, enrolled=options.enrolled)
    kept = Kept(options.keep)
    done: list[tuple[Scene, SceneOutcome]] = []
    for scene in scenes(kinds, said, levels_db):
        outcome = kept.get(scene) or kept.put(scene, bench.hold(scene))
        done.append((scene, outcome))
        if not outcome.right or outcome.self_interrupted:
            said_over = "" if scene.over is None else f" {scene.over.text!r}"
            print(f"  {scene.kind}{said_over} over {scene.assistant} at {scene.echo_db:.0f} dB, "
                  f"residual {outcome.residual_db:.0f}, heard {outcome.heard!r}, wrong "
                  f"{outcome.self_interrupted}, half duplex {outcome.half_duplex}")  # fmt: skip
    figures = report(done)
    print(
        json.dumps(
            {
                **figures,
                "canceller": options.canceller,
                "without": options.without,
                "enrolled": options.enrolled,
                **asdict(Conditions.here()),
            }
        )
    )
