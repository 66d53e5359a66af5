"""The two commands of a bare machine: prepared once, quick the second time, clear on failure."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "scripts"
BARE = ("run.py", "test.py", "environment.py")


def loaded(name: str) -> ModuleType:
    """A script, as a module."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/environment.py, on a project of its own."""
    module = loaded("environment")
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp.json")
    return module


@pytest.fixture
def runs(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were run. Making a virtual environment makes its Python."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if command[1:3] == ["-m", "venv"]:
            environment.python().parent.mkdir(parents=True)
            environment.python().write_text("", encoding="utf-8")
        return subprocess.CompletedProcess(command, 0, stdout=sys.version)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


@pytest.mark.parametrize("name", BARE)
def test_bare_scripts_need_the_standard_library_alone(name: str):
    for node in ast.walk(ast.parse((SCRIPTS / name).read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        for module in modules:
            root = module.split(".")[0]
            assert root in sys.stdlib_module_names or root == "environment", module


@pytest.mark.parametrize("name", BARE)
def test_an_older_python_can_read_them_to_say_that_it_is_too_old(name: str):
    ast.parse((SCRIPTS / name).read_text(encoding="utf-8"), feature_version=(3, 7))


@pytest.fixture(autouse=True)
def no_wheel_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S2S_KERNEL_WHEEL", raising=False)


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("index", ["s2s-kernels"]),
        ("https://localhost/s2s.whl", ["https://localhost/s2s.whl"]),
        ("{folder}", ["--no-index", "--find-links", "{folder}", "s2s-kernels"]),
    ],
)
def test_the_kernels_wheel_is_installed_from_where_it_was_said_to_be(
    where: str,
    told: list[str],
    environment: ModuleType,
    runs: list[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    where, *told = (word.format(folder=tmp_path) for word in (where, *told))
    environment.prepare(["embedded"])
    assert not any("s2s-kernels" in command for command in runs), "nobody asked for it"
    runs.clear()
    monkeypatch.setenv("S2S_KERNEL_WHEEL", where)
    assert environment.prepare(["embedded"]) is True
    assert runs[-1][-len(told) :] == told
    assert {"--only-binary=:all:", "--no-deps"} <= set(runs[-1])
    monkeypatch.delenv("S2S_KERNEL_WHEEL")
    assert environment.prepare(["embedded"]) is False, "it stays"


def test_a_kernels_wheel_that_is_not_there_ends_it_with_what_happens_without(
    environment: ModuleType, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch
):
    run = subprocess.run

    def fail(command: list[str], **settings: object) -> subprocess.CompletedProcess[str]:
        done = run(command, **settings)
        return subprocess.CompletedProcess(
            command, 1 if command[-1] == "gone.whl" else 0, done.stdout
        )

    monkeypatch.setattr(subprocess, "run", fail)
    monkeypatch.setenv("S2S_KERNEL_WHEEL", "gone.whl")
    with pytest.raises(SystemExit, match=r"S2S_KERNEL_WHEEL is gone\.whl.*compiled at the first"):
        environment.prepare(["embedded"])
    assert not environment.STAMP.exists()


def test_the_first_time_installs_and_the_second_does_nothing(
    environment: ModuleType, runs: list[list[str]], capsys: pytest.CaptureFixture[str]
):
    assert environment.prepare(["embedded"]) is True
    assert [command[1:3] for command in runs] == [["-m", "venv"], ["-m", "pip"]]
    assert runs[1][-1].endswith("[embedded]")
    assert "--only-binary=:all:" in runs[1]
    assert "Making a virtual environment" in capsys.readouterr().out
    runs.clear()
    assert environment.prepare(["embedded"]) is False
    assert runs == []
    assert capsys.readouterr().out == ""


def test_a_changed_project_file_installs_again(environment: ModuleType, runs: list[list[str]]):
    environment.prepare(["embedded"])
    runs.clear()
    (environment.ROOT / "pyproject.toml").write_text("[project]\nname='x'\n", encoding="utf-8")
    assert environment.prepare(["embedded"]) is True
    assert [command[2] for command in runs] == ["import pip, sys; print(sys.version)", "pip"]


def test_extras_add_up(environment: ModuleType, runs: list[list[str]]):
    environment.prepare(["embedded"])
    environment.prepare(["test"])
    assert runs[-1][-1].endswith("[embedded,test]")
    assert environment.prepare(["embedded"]) is False
    assert json.loads(environment.STAMP.read_text())["extras"] == ["embedded", "test"]


def test_a_failed_installation_is_tried_again(
    environment: ModuleType, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch
):
    environment.prepare(["embedded"])
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, stdout="")
    )
    with pytest.raises(SystemExit, match="could not be"):
        environment.prepare(["test"])
    assert not environment.STAMP.exists()


def test_an_old_python_is_refused(environment: ModuleType, monkeypatch: pytest.MonkeyPatch):
    environment.require_python()
    monkeypatch.setattr(environment, "MIN_PYTHON", (99, 0))
    with pytest.raises(SystemExit, match=r"too old: s2s needs 99\.0 or newer"):
        environment.require_python()


@pytest.mark.parametrize(
    ("tool", "said"), [("dnf", "sudo dnf install portaudio"), ("", "your system's portaudio")]
)
def test_linux_without_portaudio_is_told_the_command(
    environment: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tool: str,
    said: str,
):
    monkeypatch.setattr(environment.platform, "system", lambda: "Linux")
    monkeypatch.setattr(environment.ctypes.util, "find_library", lambda _: None)
    monkeypatch.setattr(environment.shutil, "which", lambda name: name if name == tool else None)
    environment.portaudio_hint()
    assert said in capsys.readouterr().out
    monkeypatch.setattr(environment.ctypes.util, "find_library", lambda _: "libportaudio.so.2")
    environment.portaudio_hint()
    assert capsys.readouterr().out == ""


@pytest.fixture
def tests(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/test.py."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return loaded("test")


@pytest.mark.parametrize("arguments", [[], ["--durations=25"]])
def test_all_tests_run_in_two_halves(tests: ModuleType, arguments: list[str]) -> None:
    one, other = tests.commands(arguments)
    same = [str(tests.python()), "-u", "-m", "pytest", "--require-models", *arguments]
    assert one[: len(same)] == other[: len(same)] == same
    half = other[len(same) :]
    assert [each.removeprefix("--ignore=") for each in one[len(same) :]] == half
    assert all((ROOT / each).exists() for each in half), "else they are in both or in none"
    assert len(half) > 1


@pytest.mark.parametrize(
    "arguments", [["tests/turns", "-k", "pause"], ["-x"], ["--require", "pulse", "--no-skips"]]
)
def test_what_is_asked_for_runs_in_one_process(tests: ModuleType, arguments: list[str]) -> None:
    assert [each[5:] for each in tests.commands(arguments)] == [arguments]


@pytest.mark.parametrize(
    ("codes", "code"), [((0, 0), 0), ((1, 0), 1), ((0, 2), 2), ((3, 4), 3), ((0, -9), -9)]
)
def test_what_fails_in_one_half_fails(
    tests: ModuleType, codes: tuple[int, int], code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """A process that crashes has failed, and each is heard to its end."""
    program = "import os, sys; print('ended with {0}', flush=True); {1}"
    ends = [f"os.kill(os.getpid(), {-each})" if each < 0 else f"sys.exit({each})" for each in codes]
    running = [
        [sys.executable, "-c", program.format(each, end)]
        for each, end in zip(codes, ends, strict=True)
    ]
    assert tests.at_once(running) == code
    assert capfd.readouterr().out.split("\n")[:-1] == [f"ended with {each}" for each in codes]
