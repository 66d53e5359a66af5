"""Finding and loading a llama.cpp library, and refusing one that is not understood."""

from __future__ import annotations

import ctypes.util
import os
from pathlib import Path

import pytest

from s2s.system import llama_cpp
from s2s.system.llama_cpp import (
    ContextLayout,
    Library,
    LlamaCppError,
    ModelLayout,
    Parameters,
    installed,
    library,
)

SOMEWHERE = Path("libllama.so")
needs_library = pytest.mark.skipif(
    not installed(), reason="no llama.cpp library: pip install xllamacpp"
)


def parameters(values: list[int]) -> Parameters:
    made = Parameters()
    made.words[: len(values)] = values
    return made


# llama_context_default_params of llama.cpp in autumn 2026, as 32-bit words.
CONTEXT = [512, 2048, 512, 1, 0, 0, 1, 4, 4, 0, -1, -1, -1, -1, *[0] * 8, 0, 0, 0, 0, 1, 1]
MODEL = [0, 0, 0, 0, -1, 1, -1, 1, 0, 0, *[0] * 8, 0x10000]


def test_no_library_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_cpp, "installed", list)
    with pytest.raises(LlamaCppError, match="pip install xllamacpp"):
        library.__wrapped__()


def test_a_library_that_cannot_be_loaded_gives_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "libllama.so"
    broken.write_bytes(b"nothing")
    monkeypatch.setattr(llama_cpp, "installed", lambda: [("llama_cpp", broken)])
    with pytest.raises(LlamaCppError, match="can be used: llama_cpp: "):
        library.__wrapped__()


def test_another_library_is_refused() -> None:
    name = ctypes.util.find_library("m")
    if name is None:
        pytest.skip("no mathematics library")
    with pytest.raises(LlamaCppError, match="lacks llama_backend_init"):
        Library(Path(name), {})


def test_the_context_fields_are_found_where_they_lie() -> None:
    layout = ContextLayout(parameters(CONTEXT), SOMEWHERE)
    assert (layout.flash_attention, layout.type_k, layout.type_v) == (13, 26, 27)
    # A field fewer before the enums: everything moves, and the pointers stay aligned.
    layout = ContextLayout(parameters(CONTEXT[:9] + CONTEXT[10:22] + [0] + CONTEXT[22:]), SOMEWHERE)
    assert (layout.flash_attention, layout.type_k, layout.type_v) == (12, 26, 27)


@pytest.mark.parametrize("at", [0, 2, 11, 23, 26])
def test_unknown_context_defaults_are_refused(at: int) -> None:
    changed = CONTEXT.copy()
    changed[at] = 77
    with pytest.raises(LlamaCppError, match="unknown version of llama_context_params"):
        ContextLayout(parameters(changed), SOMEWHERE)


@pytest.mark.parametrize("at", [0, 4, 18])
def test_unknown_model_defaults_are_refused(at: int) -> None:
    ModelLayout(parameters(MODEL), SOMEWHERE)
    changed = MODEL.copy()
    changed[at] = 77
    with pytest.raises(LlamaCppError, match="unknown version of llama_model_params"):
        ModelLayout(parameters(changed), SOMEWHERE)


@pytest.mark.ggml
@needs_library
@pytest.mark.parametrize("path", [path for _, path in installed()], ids=str)
def test_every_installed_library_is_understood(path: Path) -> None:
    assert "CPU" in Library(path, {}).describe()


def test_the_wait_policy_is_there_only_while_a_library_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with llama_cpp.spinning_barriers():
        assert os.environ["OMP_WAIT_POLICY"] == "active"
    assert "OMP_WAIT_POLICY" not in os.environ
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    with llama_cpp.spinning_barriers():
        assert os.environ["OMP_WAIT_POLICY"] == "passive"
    assert os.environ["OMP_WAIT_POLICY"] == "passive"


class Devices(Library):
    """A library with devices: type and name of each, as ggml numbers the types."""

    def __init__(self, *devices: tuple[int, str]) -> None:
        self._devices = devices

    def number(self, name: str, *arguments: object) -> int:
        match name:
            case "ggml_backend_dev_count":
                return len(self._devices)
            case "ggml_backend_dev_get":
                (at,) = arguments
                assert isinstance(at, int)
                return 1000 + at
            case "ggml_backend_dev_type":
                return self._device(*arguments)[0]
            case _:
                raise AssertionError(name)

    def text(self, name: str, *arguments: object) -> str:
        assert name == "ggml_backend_dev_description"
        return self._device(*arguments)[1]

    def _device(self, handle: object) -> tuple[int, str]:
        assert isinstance(handle, int)
        return self._devices[handle - 1000]


def test_graphics_cards_are_told_from_processors_and_what_helps_them() -> None:
    found = Devices((1, "RTX 9"), (3, "BLAS"), (0, "Xeon"), (1, "RTX 8")).graphics_cards()
    assert found == ("RTX 9", "RTX 8")
    assert Devices((0, "Xeon")).graphics_cards() == ()


@needs_library
def test_the_library_can_be_asked_for_its_cards() -> None:
    assert all(name for name in library().graphics_cards())
