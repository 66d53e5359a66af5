"""Sessions of onnxruntime: as many threads as asked, and errors that are told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from s2s.system.onnx import SPINNING, is_runtime_error, onnx_session
from tests.support.vits import VOICES

MODEL = VOICES / "plain.onnx"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_session_has_the_threads_it_was_given(threads: int) -> None:
    options = onnx_session(MODEL, threads=threads).get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (threads, 1)


@pytest.mark.parametrize(("spin", "said"), [(False, "0"), (True, "1")])
def test_nothing_spins_unless_asked(spin: bool, said: str) -> None:
    options = onnx_session(MODEL, entries=SPINNING if spin else None).get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == said
    assert options.get_session_config_entry("session.inter_op.allow_spinning") == "0"


def test_a_path_and_the_bytes_in_it_are_the_same_model() -> None:
    by_path, by_bytes = onnx_session(str(MODEL)), onnx_session(MODEL.read_bytes())
    names = [[value.name for value in each.get_inputs()] for each in (by_path, by_bytes)]
    assert names[0] == names[1]


def test_a_graph_that_is_refused_is_a_runtime_error(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"no model")
    with pytest.raises(Exception) as failed:  # noqa: PT011 - it has no base of its own
        onnx_session(tmp_path / "x.onnx")
    assert is_runtime_error(failed.value)
    assert not is_runtime_error(ValueError("x"))
    assert not is_runtime_error(np.exceptions.AxisError("x"))


def test_a_provider_that_is_not_there_is_an_error() -> None:
    """Nothing else is taken in its place."""
    with pytest.raises(Exception, match="AbacusExecutionProvider"):
        onnx_session(MODEL, providers=("AbacusExecutionProvider",))
