"""`python -m s2s bench voice` and `bench recorded`: for those who own trained weights."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from s2s.bench.heard_back import Embed, HeardBack
    from s2s.config.schema import Config
    from s2s.core.audio import Block
    from s2s.models.store import Store


class Subparsers(Protocol):
    """As much of what `add_subparsers` gives as is used here."""

    def add_parser(
        self, name: str, *, help: str, parents: list[argparse.ArgumentParser]
    ) -> argparse.ArgumentParser: ...


def add_voice(actions: Subparsers, common: argparse.ArgumentParser) -> None:
    """Describe both to the command line."""
    voice = actions.add_parser(
        "voice",
        help="speak prompts, hear them back (word error rate), compare speakers",
        parents=[common],
    )
    voice.add_argument("--prompts", type=Path, metavar="FILE", help="one a line; none: twelve")
    voice.add_argument("--like", type=Path, metavar="FILE", help="a recording of the speaker")
    voice.add_argument(
        "--base", metavar="MODEL", help="Qwen3-TTS Base model whose speaker encoder compares"
    )
    voice.add_argument("--keep", type=Path, metavar="FOLDER", help="write the sound there")
    recorded = actions.add_parser(
        "recorded",
        help="hold a recorded run of the official package or vLLM-Omni against this program",
        parents=[common],
    )
    recorded.add_argument("source", help="the checkpoint it was made with: folder, name or hub id")
    recorded.add_argument("run", type=Path, metavar="RUN.npz", help="text, codes and sound")
    recorded.add_argument("--core", default="auto", help="what computes the codes")
    recorded.add_argument("--codes-quant", default="q8_0", metavar="QUANT", help="of the talker")
    recorded.add_argument("--threads", type=int, default=1)


def run_voice(options: argparse.Namespace, config: Config, store: Store) -> int:
    """Print a line a prompt, the rates, and the JSON line."""
    from s2s.app.loading import Threads
    from s2s.bench.conditions import Conditions
    from s2s.bench.heard_back import PROMPTS, hear_back, read_prompts
    from s2s.config import registry
    from s2s.models.resources import Resources

    prompts = read_prompts(options.prompts) if options.prompts else list(PROMPTS)
    threads = Threads.of(config)
    embed, like = _speakers(options, store)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        synthesizer = stack.enter_context(
            closing(
                registry.create_synthesizer(
                    config.tts.backend, config.tts.options, Resources(store, threads.tts)
                )
            )
        )
        transcriber = stack.enter_context(
            closing(
                registry.create_transcriber(
                    config.stt.backend, config.stt.options, Resources(store, threads.stt)
                )
            )
        )
        found = hear_back(
            prompts, synthesizer, transcriber, language=config.session.language, embed=embed,
            like=like, keep=options.keep,
        )  # fmt: skip
    sums = _show(found)
    backends = {"tts": config.tts.backend, "stt": config.stt.backend}
    rows = [asdict(each) for each in found]
    print(json.dumps({**sums, **backends, "rows": rows, **asdict(Conditions.here())}))
    return 0


def _speakers(options: argparse.Namespace, store: Store) -> tuple[Embed | None, Block | None]:
    """What makes a vector of sound, and that of the recording. Raises ValueError for a recording
    without a model to compare with."""
    from s2s.core.audio import read_wav, resample
    from s2s.tts.qwen3 import VOICE_RATE_HZ, open_speaker_encoder

    if options.base is None:
        if options.like is not None:
            raise ValueError(
                "--like needs a speaker encoder: name a Qwen3-TTS Base model with --base"
            )
        return None, None
    encoder = open_speaker_encoder(options.base, store.root)

    def embed(samples: Block, rate_hz: int) -> Block:
        return encoder.embed(resample(samples, rate_hz, VOICE_RATE_HZ))

    if options.like is None:
        return embed, None
    return embed, encoder.embed(read_wav(options.like, VOICE_RATE_HZ)[0])


def _show(found: list[HeardBack]) -> dict[str, float | None]:
    """The table, and the sums of it."""
    for each in found:
        marks = [f"{each.wrong}/{each.words} wrong", f"{each.audio_s:.1f} s", f"RTF {each.rtf:.2f}"]
        marks += [f"like {each.like:.3f}"] if each.like is not None else []
        marks += [f"steady {each.steady:.3f}"] if each.steady is not None else []
        print(f"{', '.join(marks)}\n    said  {each.text}\n    heard {each.heard}")
    words = sum(each.words for each in found)
    sums = {
        "wer": round(sum(each.wrong for each in found) / words, 4) if words else None,
        "like": _mean([each.like for each in found]),
        "steady": _mean([each.steady for each in found]),
        "audio_s": round(sum(each.audio_s for each in found), 2),
    }
    for name, value in sums.items():
        print(f"{name:>10}  {value}")
    return sums


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 4) if known else None


def run_recorded(options: argparse.Namespace, store: Store) -> int:
    """Print how a recorded run and this program differ, and the JSON line."""
    from s2s.bench.conditions import Conditions
    from s2s.tts.qwen3 import DevicePlacements, compare_recorded, open_model, read_recorded

    model = open_model(
        options.source,
        store.root,
        quant=options.codes_quant,
        placement=DevicePlacements(talker=options.core, predictor=options.core),
        threads=options.threads,
        progress=store.progress,
    )
    with closing(model):
        run = read_recorded(options.run, model.spec)
        found = compare_recorded(model, run)
        print(f"{run.made_by} against {model.quant} on {model.placement}: {found.frames} frames")
    print(
        f"first codes: {found.first:.1%} the likeliest, {found.likely:.1%} among five, log "
        f"probability {found.log_probability:.3f}\nother codes: {found.codes:.1%} the same; whole "
        f"frames from the start: {found.same_frames}\nends where it did: {found.ends}"
    )
    if found.snr_db is not None:
        print(f"sound of the same codes: {found.snr_db:.1f} dB, at most {found.largest:.2g} apart")
    told = {**asdict(found), "quant": model.quant, "core": model.placement, "made_by": run.made_by}
    print(json.dumps({**told, **asdict(Conditions.here())}))
    return 0
