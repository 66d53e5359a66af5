"""The program as it is installed, without a checkout: a wheel is built and used elsewhere.

The wheel goes into a virtual environment of its own, which borrows the packages that s2s depends
on from the one that runs the tests; so nothing is fetched. With `--require index` pip and uv
install it with its dependencies, as docs/install.md says, from the package index that pip is set
to.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from s2s import __version__
from s2s.models.store import home

pytestmark = pytest.mark.timeout(600)  # a busy machine compiles for a minute

ROOT = Path(__file__).parents[1]
SOMETHING = ROOT / "tests" / "data" / "something.wav"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run([*pip, "--wheel-dir", str(folder), str(ROOT)], cwd=folder)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a virtual environment with the wheel in it."""
    place = tmp_path_factory.mktemp("installed")
    run([sys.executable, "-m", "venv", "--without-pip", str(place)], cwd=place)
    programs = place / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet"]
    run([*pip, "--no-index", "--no-deps", str(wheel)], cwd=place)
    [packages] = place.rglob("site-packages")
    borrowed = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    (packages / "borrowed.pth").write_text("\n".join(sorted(borrowed)), encoding="utf-8")
    return programs


def run(
    command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str] | None = None
) -> str:
    """What a program printed that has to succeed."""
    given = os.environ | {"PYTHONPATH": ""} | (environment or {})
    done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def talk(s2s: Sequence[str | Path], folder: Path) -> None:
    """Hold a conversation with a recording, in `folder`."""
    files = ["--input", SOMETHING, "--output", folder / "reply.wav"]
    told = run([*s2s, *files, "--fast"], folder, {"S2S_HOME": str(home()), "HF_HUB_OFFLINE": "1"})
    assert "s2s  " in told
    assert (folder / "reply.wav").stat().st_size > 2 * SOMETHING.stat().st_size


def test_the_wheel_holds_the_package_and_its_profiles_and_nothing_else(wheel: Path) -> None:
    sources = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "s2s").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    folder = ROOT / "configs"
    profiles = {f"s2s/configs/{path.relative_to(folder)}" for path in folder.rglob("*.yaml")}
    kernel = {
        f"s2s/tts/qwen3/native/src/{path.name}" for path in (ROOT / "native" / "src").iterdir()
    }
    assert profiles
    assert kernel
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == sources | profiles | kernel


def test_it_is_found_where_it_was_installed(installed: Path, tmp_path: Path) -> None:
    code = "import s2s; from s2s.config.loader import profiles; print(s2s.__file__, *profiles())"
    place, *names = run([installed / "python", "-c", code], tmp_path).split()
    assert Path(place).is_relative_to(installed.parent)
    assert {f"{name}.yaml" for name in names} == {p.name for p in (ROOT / "configs").glob("*.yaml")}
    assert run([installed / "s2s", "--version"], tmp_path).strip() == f"s2s {__version__}"


@pytest.mark.parametrize("where", ["elsewhere", "above a checkout", "in a checkout"])
def test_it_runs_in_any_folder(installed: Path, tmp_path: Path, where: str) -> None:
    """Python puts the folder it is started in before everything: a folder called s2s lies there."""
    (tmp_path / "s2s").symlink_to(ROOT)
    (tmp_path / "empty").mkdir()
    folders = {"elsewhere": tmp_path / "empty", "above a checkout": tmp_path, "in a checkout": ROOT}
    for python in (installed / "python", Path(sys.executable)):
        told = run([python, "-m", "s2s", "--version"], folders[where])
        assert told.strip() == f"s2s {__version__}"
        assert "hibari" in run([python, "-m", "s2s", "config"], folders[where])


@pytest.mark.models
def test_it_holds_a_conversation(installed: Path, tmp_path: Path) -> None:
    talk([installed / "s2s"], tmp_path)


@pytest.mark.skipif(
    not any(shutil.which(name) for name in ("cc", "gcc", "clang")), reason="no C compiler here"
)
def test_it_compiles_its_kernel_and_speaks(
    installed: Path, tmp_path: Path, tiny_qwen3: Callable[[str], Path]
) -> None:
    """With Qwen3-TTS on the native core, of the C sources that are in the wheel."""
    model = f"tts.model={tiny_qwen3('0.6b-customvoice')}"
    settings = ["--tts", "qwen3", "--set", model, "--set", "tts.core=native", "--set"]
    command = [installed / "s2s", "say", "Hello.", *settings, "tts.codec=native", "-o", "hello.wav"]
    run(command, tmp_path, {"S2S_HOME": str(tmp_path / "home"), "CC": ""})
    assert (tmp_path / "hello.wav").stat().st_size > 1000
    assert list((tmp_path / "home" / "kernels").iterdir())


@pytest.mark.index
@pytest.mark.models
@pytest.mark.timeout(900)
def test_pip_installs_it_with_what_it_needs(wheel: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "venv", tmp_path / "venv"], tmp_path)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    what = f"s2s[embedded] @ {wheel.as_uri()}"
    run([programs / "python", "-m", "pip", "install", "--quiet", what], tmp_path)
    talk([programs / "s2s"], tmp_path)


@pytest.mark.index
@pytest.mark.models
@pytest.mark.timeout(900)
def test_uv_installs_it_as_a_tool(wheel: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "venv", tmp_path / "venv"], tmp_path)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    run([programs / "python", "-m", "pip", "install", "--quiet", "uv"], tmp_path)
    tools = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    what = f"s2s[embedded] @ {wheel.as_uri()}"
    command = [programs / "uv", "tool", "install", "--python", sys.executable, what]
    run(command, tmp_path, tools | pip_index_for_uv())
    talk([tmp_path / "bin" / "s2s"], tmp_path)


def pip_index_for_uv() -> dict[str, str]:
    """Where pip looks for packages on this machine, as uv's environment says it."""
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "find-links": "UV_FIND_LINKS",
        "cert": "SSL_CERT_FILE",
    }
    found: dict[str, str] = {}
    for line in run([sys.executable, "-m", "pip", "config", "list"], ROOT).splitlines():
        key, _, value = line.partition("=")
        name = names.get(key.rpartition(".")[2])
        if name is not None:
            found[name] = value.strip("'")
    return found
