"""A process that is forked after the kernel has computed: refused there, and no harm to its parent.

In processes of their own, because a fork of the tests' own would hold whatever they hold.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

PROGRAM = """
import os, sys
from pathlib import Path
import numpy as np
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.errors import KernelError
from s2s.tts.qwen3.native.language import load
from s2s.tts.qwen3.sampling import Sampling, SeededDraws

folder, kernels = map(Path, sys.argv[1:])
model = load(folder, read_spec(folder), 2, cache=kernels)
talker, predictor = model.language.talker, model.language.predictor
inputs = np.ones((9, read_spec(folder).talker.hidden), np.float32)


def open_codec():
    return open_decoder(folder / "speech_tokenizer", kernels, threads=2, placement="native")


def decode(codec):
    return codec.decode(codec.new_state(), np.zeros((2, 16), np.int64)).tolist()


codec = open_codec()
sound = decode(codec)


def compute(model):
    talker, predictor = model.language.talker, model.language.predictor
    output = talker.prefill(talker.new_state(9), inputs)
    state = predictor.new_state()
    frame = predictor.frame(state, output.hidden, 3, Sampling(greedy=True), SeededDraws(0))
    return output.logits.tolist(), frame.tolist(), output.hidden


def refused(action):
    try:
        action()
    except KernelError as error:
        assert "forked" in str(error), error
    else:
        raise AssertionError("it computed")


expected = compute(model)
child = os.fork()
if not child:
    refused(lambda: compute(model))
    hidden, state = expected[2], predictor.new_state()
    refused(lambda: predictor.frame(state, hidden, 3, Sampling(greedy=True), SeededDraws(0)))
    refused(lambda: talker.prefill(talker.new_state(9), inputs))
    refused(lambda: decode(codec))
    assert decode(open_codec()) == sound
    again = load(folder, read_spec(folder), 2, cache=kernels)
    assert compute(again)[:2] == expected[:2]
    sys.exit(7)  # with everything that is freed at the end
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert compute(model)[:2] == expected[:2]
print("both computed")
"""


def test_a_fork_is_refused_what_its_parent_opened_and_can_open_it_anew(
    converted_qwen3: Callable[[str, str], Path], kernel_cache: Path
) -> None:
    folder = converted_qwen3("0.6b-base", "q8_0")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, folder, kernel_cache],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "both computed\n"
