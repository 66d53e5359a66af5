"""An example or two for the help of each command and each action: what one types most.

tests/app/test_examples.py holds that each has one, and that the program takes it.
"""

from __future__ import annotations

import argparse

from s2s.app.parser_tables import parsers

EXAMPLES: dict[str, tuple[str, ...]] = {
    "": ("python -m s2s", "python -m s2s --profile ollama --language de"),
    "talk": (
        "python -m s2s talk --wake-word okay_nabu",
        "python -m s2s talk --input question.wav --output reply.wav --fast",
    ),
    "say": ('python -m s2s say "It costs 5 €." -o price.wav',),
    "serve": ("python -m s2s serve --host 0.0.0.0 --tls",),
    "cluster": ("python -m s2s cluster --replicas 2 --max-sessions 8",),
    "wyoming": ("python -m s2s wyoming --allow 192.168.1.0/24",),
    "replay": ("python -m s2s replay records/2026-11-30_12-00-00-000_talk --stt faster-whisper",),
    "transcribe": ("python -m s2s transcribe question.wav --language en",),
    "devices": ("python -m s2s devices",),
    "models": ("python -m s2s models list",),
    "models list": ("python -m s2s models list",),
    "models pull": ("python -m s2s models pull embedded",),
    "models convert": ("python -m s2s models convert 0.6b-customvoice --quant q4_k_m",),
    "models export": ("python -m s2s models export 0.6b-customvoice --to executorch",),
    "models hash": ("python -m s2s models hash hf://owner/repo/model.gguf --record mine",),
    "models path": ("python -m s2s models path silero-vad",),
    "models rm": ("python -m s2s models rm whisper-base",),
    "voices": ("python -m s2s voices list",),
    "voices list": ("python -m s2s voices list",),
    "voices add": (
        "python -m s2s voices add piper:en_US-joe-medium",
        "python -m s2s voices add anna --record",
    ),
    "voices me": ("python -m s2s voices me --from me.wav",),
    "voices rm": ("python -m s2s voices rm anna",),
    "voices split": ("python -m s2s voices split piper-joe",),
    "voices verify": ("python -m s2s voices verify piper-joe",),
    "memory": ("python -m s2s memory",),
    "memory list": ("python -m s2s memory list",),
    "memory add": ('python -m s2s memory add "My cat is called Mia."',),
    "memory rm": ("python -m s2s memory rm 2", "python -m s2s memory rm Mia"),
    "erase": ("python -m s2s erase --list", "python -m s2s erase --only voiceprint --yes"),
    "bench": ("python -m s2s bench conversation --picture talk.png",),
    "bench conversation": ("python -m s2s bench conversation --picture talk.png",),
    "bench random": ("python -m s2s bench random --count 10000",),
    "bench parity": ("python -m s2s bench parity 0.6b-base --quants f32,q4_k_m",),
    "bench voice": ("python -m s2s bench voice --tts qwen3 --keep spoken",),
    "bench recorded": ("python -m s2s bench recorded checkpoint run.npz",),
    "config": ("python -m s2s config --profile piper > mine.yaml",),
    "doctor": ("python -m s2s doctor --tts qwen3",),
    "completion": (
        "python -m s2s completion bash > ~/.local/share/bash-completion/completions/s2s",
    ),
}
"""Path of a command -> lines."""


def show_examples(parser: argparse.ArgumentParser) -> None:
    """Have the help of a parser, its commands and their actions end with their examples."""
    for path, each in parsers(parser):
        lines = EXAMPLES.get(" ".join(path), ())
        if lines:
            before = f"{each.epilog}\n\n" if each.epilog else ""
            word = "example" if len(lines) == 1 else "examples"
            each.epilog = before + f"{word}:\n" + "\n".join(f"  {line}" for line in lines)
            each.formatter_class = argparse.RawDescriptionHelpFormatter
