"""For benchmarks of random weights: a frame of the code predictor with a given acceptance rate of
draft tokens, by a function of the kernel that nothing else uses."""

from __future__ import annotations

from ctypes import c_float, c_int, c_void_p

import numpy as np

from s2s.tts.qwen3.native.library import ChooseFrame, Functions, KernelLibrary, address, bind

_FUNCTIONS: Functions = {
    "choose_frame_at_rate": (
        c_int,
        [c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_float, c_void_p],
    )
}


def emulated_acceptance(lib: KernelLibrary, groups: int, rate: float, seed: int = 0) -> ChooseFrame:
    """``choose_frame_at_rate`` of emulated_acceptance.c in the place of ``choose_frame``."""
    bind(lib, _FUNCTIONS, {})
    random = np.random.Generator(np.random.PCG64(seed))

    def choose(
        predictor: int,
        cache: int,
        first: int,
        draft_tokens: int,
        sampling: int,
        uniforms: int,
        chosen: int,
        /,
    ) -> int:
        rate_uniforms = random.random(groups * draft_tokens, np.float32)
        return lib.choose_frame_at_rate(
            predictor, cache, first, draft_tokens, sampling, uniforms, chosen, rate,
            address(rate_uniforms),
        )  # fmt: skip

    return choose
