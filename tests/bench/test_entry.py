"""What a measurement lacks is said in one sentence with exit code 2: of each, by its own code."""

from __future__ import annotations

import argparse
import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from s2s.bench.entry import check_ended, existing_file, existing_folder, need, run_measurement
from s2s.core.errors import StageError

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"peers/run.py", "qwen3/core_row.py", "vits_worker.py"}
"""Run in another engine's Python: what it lacks is its result, which another process tells."""
BENCH = ROOT / "s2s" / "bench"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STARTED = sorted(
    path
    for path in (*BENCH.rglob("*.py"), *(ROOT / "scripts").glob("benchmark_*.py"))
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
    and path.relative_to(BENCH if BENCH in path.parents else ROOT).as_posix() not in ELSEWHERE
)
WRITTEN = {
    "keep", "material", "out", "picture", "plot", "rows", "scratch", "work_folder",
    "model",
}  # fmt: skip
"""Arguments that name what is written, or made where it is not there; and a voice, which its own
reader looks for in more places than one."""

WITHOUT_EXTRAS = """
import importlib, sys

class NoExtras:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in sys.argv[1].split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoExtras())
for name in sys.argv[2:]:
    importlib.import_module(name)
"""
EXTRAS = (
    "ChatTTS aiohttp aiortc av cryptography executorch faster_whisper hibari httptools "
    "huggingface_hub jinja2 llama_cpp matplotlib mcp MNN mlx multipart num2words onnx onnxruntime "
    "openai piper playwright pybase64 pymicro_wakeword pyrnnoise pywebrtc_audio ray redis segno "
    "sherpa_onnx starlette torch transformers uroman uvicorn websockets wyoming xllamacpp zeroconf"
)
"""The modules that extras bring."""


def module_of(path: Path) -> str:
    """The name under which what starts a measurement can be imported, or what a script imports."""
    if BENCH in path.parents:
        return ".".join(path.relative_to(ROOT).with_suffix("").parts)
    [name] = [
        node.module
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        and node.module
        and [alias.name for alias in node.names] == ["main"]
    ]
    return name


MODULES = sorted({module_of(path) for path in STARTED})


def test_there_are_many() -> None:
    assert len(STARTED) > 25
    assert {"s2s.bench.cluster.__main__", "s2s.bench.pipeline"} <= set(MODULES)


@pytest.mark.parametrize("path", STARTED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_each_is_started_so_that_it_says_what_it_lacks(path: Path) -> None:
    block = ast.parse(path.read_text(encoding="utf-8")).body[-1]
    assert isinstance(block, ast.If)
    assert ast.unparse(block.body) == "sys.exit(run_measurement(main))"  # pyright: ignore


def test_each_can_say_so_without_any_extra() -> None:
    """The extras are imported by their `main`, not before it."""
    command = [sys.executable, "-c", WITHOUT_EXTRAS, EXTRAS, *MODULES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


class ReadError(Exception):
    """The command line would now be read."""


def parser_of(module: str, monkeypatch: pytest.MonkeyPatch) -> argparse.ArgumentParser:
    """What reads the command line of a measurement."""
    found: list[argparse.ArgumentParser] = []

    def read(parser: argparse.ArgumentParser, *_: object, **__: object) -> argparse.Namespace:
        found.append(parser)
        raise ReadError

    with monkeypatch.context() as patch:
        patch.setattr("signal.signal", lambda *_: None)  # pyright: ignore
        patch.setattr("s2s.bench.cluster.__main__.need", lambda *_: None)  # pyright: ignore
        patch.setattr(argparse.ArgumentParser, "parse_args", read)
        with pytest.raises(ReadError):
            importlib.import_module(module).main()
    return found[0]


@pytest.mark.parametrize("module", MODULES)
def test_a_file_or_folder_that_is_not_there_is_wrong_usage(
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = parser_of(module, monkeypatch)
    nowhere = tmp_path / "nowhere"
    for action in vars(parser)["_actions"]:  # argparse has no other list of them
        assert action.type is not Path or action.dest in WRITTEN, action
        if action.type in (existing_file, existing_folder):
            with pytest.raises(SystemExit) as ended:
                parser.parse_args([*action.option_strings[:1], str(nowhere)])
            assert ended.value.code == 2
            assert f"{nowhere}" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModuleNotFoundError("No module", name="ray.serve"), "pip install 's2s[cluster]'"),
        (ModuleNotFoundError("No module", name="aiortc"), "pip install 's2s[webrtc]'"),
        (ModuleNotFoundError("No module", name="matplotlib"), "pip install 'matplotlib'"),
        (FileNotFoundError(2, "No such file or directory", "/no/where"), "/no/where"),
        (StageError("no voice is called x:\nname one of y"), "no voice is called x: name one of y"),
    ],
)
def test_what_is_lacking_is_one_line(
    error: Exception,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted = [
        f"{requirement}; extra == '{extra}'"
        for extra, requirements in PROJECT["optional-dependencies"].items()
        for requirement in requirements
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: wanted)  # pyright: ignore

    def main() -> None:
        raise error

    assert run_measurement(main) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert told in line


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("ours", name="s2s.gone"), ValueError("a fault"), KeyError("x")]
)
def test_a_fault_keeps_its_traceback(error: Exception) -> None:
    def main() -> None:
        raise error

    with pytest.raises(type(error)):
        run_measurement(main)


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1)])
def test_the_exit_code_is_that_of_the_measurement(returned: int | None, code: int) -> None:
    assert run_measurement(lambda: returned) == code


def test_what_a_process_of_a_measurement_lacks_is_what_the_measurement_lacks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check_ended("the conversation", 0, "a warning\n")
    assert run_measurement(lambda: check_ended("the conversation", 2, "log\nno voice x\n")) == 2
    assert capsys.readouterr().err.endswith("no voice x\n")
    with pytest.raises(RuntimeError, match="the conversation failed: Traceback"):
        run_measurement(lambda: check_ended("the conversation", 1, "Traceback"))


def test_what_is_there_is_not_needed_any_more(tmp_path: Path) -> None:
    need("json")
    with pytest.raises(ModuleNotFoundError) as raised:
        need("json", "no_such_package")
    assert raised.value.name == "no_such_package"
    assert existing_folder(str(tmp_path)) == tmp_path
    assert existing_file(__file__) == Path(__file__)
