"""Every command line of the documents is run to its end, on small models and with small numbers.

A line that installs or fetches something, or needs a microphone, is only read: it is in
`READ_ONLY` with the reason. `SMALLER` says what is smaller than in the document, and nothing else
is changed; of lines that are the same then the first runs. Lines run in the order of the documents,
in one folder: a voice that one of them makes speaks in the next. Those that hold conversations in
real time (`IN_REAL_TIME`), and so mostly wait, run one after the other beside all others, and are
asked last.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from s2s.app import cli
from s2s.app.commands.table import COMMANDS
from s2s.app.settings import settings
from s2s.config.schema import Config
from s2s.models.store import Store, home
from s2s.testing.random_checkpoint import write_checkpoint
from tests.support.documents import ROOT, Snippet, commands, words
from tests.support.server import ScriptedServer
from tests.support.vits import voice_folder

DATA = ROOT / "tests" / "data"

READ_ONLY: tuple[tuple[str, str], ...] = (
    (r"(sudo|docker|systemctl|journalctl|launchctl|cp|install|uv|pip) ", "installs"),
    (r"python -m pip install ", "installs"),
    (r"python -m pip wheel native ", "fetches CMake: tests/test_kernel_wheel.py"),
    (r"cmake ", "compiles all levels: tests/tts/qwen3/native/test_speech_example.py"),
    (r"python3 scripts/(run|test)\.py", "installs"),
    (r"\.ci/run|basedpyright", "is what runs these tests"),
    (r"python -m pytest tests/test_layers\.py", "is one of these tests"),
    (r"python -m tests\.support\.documents", "writes the documents: tests/test_documents.py"),
    (r"python -m s2s voices add piper:", "fetches"),
    (r"python -m s2s models export", "torch: tests/tts/qwen3/executorch/test_export.py"),
    (r"python -m s2s models convert .* mnn-", "MNN: tests/tts/qwen3/mnn/test_weights.py"),
    (r"python -m s2s (models hash|doctor --sources)", "asks the hub and the package index"),
    (r"python -m s2s voices add \w+ --record", "microphone"),
    (r"python -m s2s voices me$", "microphone"),
    (r"python scripts/benchmark_open_speakers\.py", "recordings that a Debian package installs"),
    (r"python -m s2s bench voice", "full-size weights: heard back, random ones say nothing"),
    (r"python -m s2s bench recorded", "full-size weights: a recorded run of theirs"),
    (r"python -m s2s( --(?!.*--input).*)?( +#.*)?$", "microphone"),
    (r'python -m s2s say "[^"]*"$', "loudspeaker"),
    (r"python -m s2s devices", "microphone"),
    (
        r"(S2S_API_KEY=\S+ )?(python -m )?s2s serve|export S2S_API_KEY",
        "serves until it is stopped",
    ),
    (
        r"python -m s2s replay records/(TALK|NAME)",
        "the name is the moment's: tests/app/test_replaying.py",
    ),
    (r"python -m s2s wyoming", "serves until it is stopped"),
    (
        r"python -m s2s( |\.bench\.)cluster",
        "Ray, until it is stopped: tests/app/cluster/test_ray.py",
    ),
    (r"python -m s2s talk --url", "another machine: tests/app/talking/test_talk_remote.py"),
)
"""Lines, by how they begin, that are not run, and why."""

SMALLER: tuple[tuple[str, str], ...] = (
    (r"(--tts qwen3 (?!.*--model).*--voice anna)", r"\1 --set tts.model={base}"),
    (
        r"(?<!doctor )(?<!config )(--tts qwen3)(?!.*(--model|tts\.model))",
        r"\1 --set tts.model={custom}",
    ),
    (r"1\.7b-voicedesign", "{design}"),
    (r"(random_checkpoint weights)", r"\1 --tiny"),
    (r"0\.6b-base", "{base}"),
    (r"(?<!--kind )0\.6b-customvoice", "{custom}"),
    (r"http://127\.0\.0\.1:8080/v1", "{server}"),
    (r"(python -m pip wheel) \. ", r"\1 {root} --no-build-isolation "),
    (r"(bench random)( --count \d+)?", r"\1 --count 5"),
    (r"(bench conversation)", r"\1 --turns 4"),
    (r"(s2s\.bench\.calling)", r"\1 --without-model"),
    (r"(s2s\.bench\.load) --sessions \S+ --turns \d+", r"\1 --sessions 1 --seconds 1 --answers 1"),
    (r"(s2s\.bench\.load\.at_once)( --\S+ \S+)*", r"\1 --talking 1 --seconds 1"),
    (r"(s2s\.bench\.load\.wire)( --rounds \d+)?", r"\1 --rounds 1"),
    (r"(s2s\.bench\.load\.calls) .*", r"\1 --seconds 0.2"),
    (r"(benchmark_only_my_voice\.py .*)--each 10", r"\1--each 1 --part 1/60"),
    (r"(bench parity .*)", r"\1 --frames 4"),
    (r"(benchmark_pipeline\.py .*)", r"\1 --turns 1 --answer-tokens 4 --idle-seconds 0.5"),
    (r"(benchmark_busy\.py)", r"\1 --busy 0 --turns 1 --set llm.max_tokens=4"),
    (r"(make_turn_audio\.py)", r"\1 --prompts prompts --variants 1"),
    (r"(benchmark_interruptions\.py .*)--voices \S+", r"\1--voices hibari --clips 1"),
    (r"(benchmark_tts\.py --tts \w+)", r"\1 --runs 1 --text Hello."),
    (r"(benchmark_vits\.py) .*", r"\1 --repeats 1 --threads 1 --texts short --model {voice}"),
    (r"(benchmark_qwen3_codec\.py)", r"\1 --tiny --runs 1 --threads 1 --frames 1"),
    (r"--random-weights", "--tiny --runs 1 --aborts 1"),
    (r"(benchmark_(tts|qwen3)\.py .*--tiny)", r"\1 --frames 8"),
    (r"--soak 10 --frames 250", "--soak 0.02"),
    (
        r"(qwen3_conversation\.py) --checkpoint .* (--picture)",
        r"\1 --checkpoint {ends} --no-embedded --turns 1 --busy 0 "
        r"--answer-tokens 4 --predictor-quants q8_0 --text fed \2",
    ),
    (r"(qwen3_cores\.py .*)", r"\1 --core onnx --frames 2 --runs 1 --exact-frames 2"),
    (r"--checkpoint checkpoint", "--checkpoint {base}"),
    (r"--frames 50 --runs 2", "--frames 4 --runs 1"),
)
"""What is replaced in a line so that it is done soon: pattern, replacement."""


IN_REAL_TIME = re.compile(
    r"python (scripts/benchmark_(pipeline|busy|qwen3_conversation)\.py"
    r"|-m s2s\.bench\.load(\.at_once|\.calls)? )"
)
"""Lines that hold conversations in real time: how they begin."""


NEEDS = (
    (r"--(tts|profile) piper", "piper", "piper"),
    (r"-m ruff\b", "ruff", "check"),
)
"""Lines that only run with an extra: pattern, its package, its name."""


def known() -> list[Snippet]:
    """Each line once, in the order of the documents."""
    found: dict[str, Snippet] = {}
    for command in commands():
        found.setdefault(" ".join(words(command.text)), command)
    return list(found.values())


def reason_not_to_run(command: str) -> str:
    return next((why for start, why in READ_ONLY if re.match(start, command)), "")


def smaller(command: str, until: str = "") -> str:
    """A line as it runs, or as it is when the replacement `until` comes to it."""
    for pattern, replacement in SMALLER:
        if pattern == until:
            break
        command = re.sub(pattern, replacement, command)
    return command


LINES = known()
RUN = [line for line in LINES if not reason_not_to_run(line.text)]
READ = [line for line in LINES if reason_not_to_run(line.text)]


def once(lines: list[Snippet]) -> list[Snippet]:
    """Of lines that are the same when they are smaller the first."""
    found: dict[str, Snippet] = {}
    for line in lines:
        found.setdefault(" ".join(smaller(line.text).split()), line)
    return list(found.values())


ONCE = sorted(once(RUN), key=lambda line: IN_REAL_TIME.match(line.text) is not None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the lines run: the files that they name are there."""
    folder = tmp_path_factory.mktemp("documents")
    shutil.copy(DATA / "something.wav", folder / "question.wav")
    shutil.copy(DATA / "librivox_0870.wav", folder / "me.wav")
    (folder / "FILES").write_text('{"talked": [[2, 3.5, 60]]}\n')
    (folder / "any.gguf").symlink_to(Store().path("smollm2-135m"))
    for name in ("scripts", "tests"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "prompts").mkdir()
    (folder / "prompts" / "core-sounds-en.txt.gz").write_bytes(gzip.compress(b""))
    programs = folder / "programs"
    programs.mkdir()
    python = programs / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    cache = folder / "home"
    cache.mkdir()
    for name in ("models", "kernels"):
        (home() / name).mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(home() / name)
    return folder


@pytest.fixture(scope="module")
def small(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The names in `SMALLER`, and what they stand for."""
    kinds = {"base": "0.6b-base", "custom": "0.6b-customvoice", "design": "1.7b-voicedesign"}
    made = {name: write_checkpoint(folder / kind, kind) for name, kind in kinds.items()}
    made["ends"] = write_checkpoint(folder / "ends", "0.6b-customvoice", ends=True)
    voice = voice_folder(folder, "plain") / "plain.onnx"
    (voice.parent / "voice.json").rename(voice.with_suffix(".onnx.json"))
    return {name: str(path) for name, path in made.items()} | {
        "voice": str(voice),
        "root": str(ROOT),
    }


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """How a line ended: as it ran, what it said, its exit code."""

    command: str
    said: str
    errors: str
    code: int


Runs = Callable[[Snippet, str], CommandEnded]


@pytest.fixture(scope="module")
def run(folder: Path, small: dict[str, str]) -> Runs:
    """Runs a line, given the address of a language server, in the folder."""
    environment = os.environ | {
        "PATH": f"{folder / 'programs'}{os.pathsep}{os.environ['PATH']}",
        "S2S_HOME": str(folder / "home"),
        "HF_HUB_OFFLINE": "1",
    }

    def run(line: Snippet, server: str) -> CommandEnded:
        command = smaller(line.text).format(**small, server=server)
        here = ROOT if line.document.name == "CONTRIBUTING.md" else folder
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
            timeout=280,
        )
        return CommandEnded(command, done.stdout, done.stderr, done.returncode)

    return run


@pytest.fixture(scope="module")
def in_real_time(
    run: Runs, request: pytest.FixtureRequest
) -> Iterator[dict[Snippet, Future[CommandEnded]]]:
    """Of the lines that are tested those that mostly wait, begun."""
    with ThreadPoolExecutor(1) as beside:
        asked = {str(each.name) for each in request.session.items}
        yield {
            line: beside.submit(run, line, "")
            for line in ONCE
            if IN_REAL_TIME.match(line.text) and f"test_a_command_line_runs[{line}]" in asked
        }


@pytest.mark.models("whisper-base", "piper-joe")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("line", ONCE, ids=str)
def test_a_command_line_runs(
    line: Snippet,
    folder: Path,
    run: Runs,
    in_real_time: dict[Snippet, Future[CommandEnded]],
    server: ScriptedServer,
) -> None:
    for pattern, package, extra in NEEDS:
        if re.search(pattern, line.text) and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs the extra {extra}")
    choice = {"index": 0, "delta": {"content": "It is noon."}, "finish_reason": "stop"}
    event = f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()
    server.script = lambda request: server.send(request, [event])
    begun = in_real_time.get(line)
    done = run(line, server.base_url) if begun is None else begun.result()
    # What the machine was too busy for ends with 1, and says so: `doctor --measure`, benchmarks.
    slow = re.search(r'not kept: end what else computes|"good": false', done.said) is not None
    assert done.code == slow, f"{done.command}\n{done.said[-1500:]}\n{done.errors[-1500:]}"
    for flag in ("--output", "-o", "--picture"):
        given = re.search(rf"{flag} (\S+)", line.text)
        if given is not None:
            assert (folder / given[1]).stat().st_size > 0


@pytest.mark.parametrize("line", READ, ids=str)
def test_a_command_line_that_is_not_run_can_be_read(line: Snippet) -> None:
    """By this program's own parser, where it is its own; else its files are there."""
    program, *arguments = words(line.text)
    if arguments[:2] == ["-m", "s2s"]:
        options = cli.parse(arguments[2:])
        assert options.command in COMMANDS
        if options.command == "talk" and arguments[2:]:
            assert settings(options) != Config(), "it changes a setting"
    for name in (program, *arguments):
        if name.startswith((".ci/", "scripts/", "tests/", "contrib/")):
            assert (ROOT / name).exists(), name


def test_every_reason_is_needed() -> None:
    for start, _ in READ_ONLY:
        assert any(re.match(start, line.text) for line in READ), start
    for pattern, _ in SMALLER:
        assert any(re.search(pattern, smaller(line.text, pattern)) for line in RUN), pattern


def test_there_are_many() -> None:
    assert len(ONCE) > 40
    assert all(words(line.text) for line in LINES)
