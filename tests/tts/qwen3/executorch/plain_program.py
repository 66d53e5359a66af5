"""Programs in numpy, which compute what exported ones do: for what runs them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec
from s2s.tts.qwen3.executorch.parts import swap_matrix
from s2s.tts.qwen3.executorch.program import Program
from s2s.tts.qwen3.interfaces import Floats
from s2s.tts.qwen3.reference import PREDICTOR_NAME, TALKER_NAME, affine, rms_norm, silu

PREDICTOR = "talker.code_predictor"


class PlainProgram(Program):
    """Keeps a list of what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[tuple[int, ...]]]] = []

    def load(self, *names: str) -> None:
        """Nothing is loaded."""

    def run(self, name: str, inputs: Sequence[Floats]) -> list[Floats]:
        self.asked.append((name, [each.shape for each in inputs]))
        return [np.asarray(each, np.float32) for each in self.computed(name, list(inputs))]

    def computed(self, name: str, inputs: list[Floats]) -> list[Floats]:
        raise NotImplementedError


class PlainStack(PlainProgram):
    """Talker or predictor of a checkpoint."""

    def __init__(self, weights: Checkpoint, spec: Spec, *, talker: bool) -> None:
        super().__init__()
        self._weights, self._whole = weights, spec
        self._spec: DecoderSpec = spec.talker if talker else spec.predictor
        self._prefix = TALKER_NAME if talker else PREDICTOR_NAME

    def computed(self, name: str, inputs: list[Floats]) -> list[Floats]:
        weights = self._weights
        if name == "layers":
            return self._layers(*inputs)
        if name == "head":
            return [inputs[0] @ weights["talker.codec_head.weight"].T]
        if name == "projection":
            part = f"{PREDICTOR}.small_to_mtp_projection"
            return [affine(inputs[0], weights[f"{part}.weight"], weights[f"{part}.bias"])]
        group = name.removeprefix("head_")
        return [inputs[0] @ weights[f"{PREDICTOR}.lm_head.{group}.weight"].T]

    def _layers(
        self, x: Floats, cosine: Floats, sine: Floats, before: Floats, new: Floats, *caches: Floats
    ) -> list[Floats]:
        spec, count, made = self._spec, len(x), list[Floats]()
        turn, eps = swap_matrix(spec.head_dim).T, spec.rms_norm_eps
        mask = np.concatenate([before, new], 1)

        def read(at: int, part: str) -> Floats:
            return self._weights[f"{self._prefix}.layers.{at}.{part}.weight"]

        for at in range(spec.layers):
            normed = rms_norm(x, read(at, "input_layernorm"), eps)

            def heads(part: str, number: int, at: int = at, normed: Floats = normed) -> Floats:
                found = normed @ read(at, f"self_attn.{part}_proj").T
                found = found.reshape(count, number, spec.head_dim)
                if part == "v":
                    return found
                found = rms_norm(found, read(at, f"self_attn.{part}_norm"), eps)
                return found * cosine + found @ turn * sine

            query = heads("q", spec.heads).swapaxes(0, 1) * np.float32(spec.head_dim**-0.5)
            query = query.reshape(spec.kv_heads, -1, spec.head_dim)
            key, value = (heads(part, spec.kv_heads).swapaxes(0, 1) for part in ("k", "v"))
            scores = np.concatenate([query @ caches[2 * at], query @ key.swapaxes(1, 2)], 2) + mask
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            mixed = scores @ np.concatenate([caches[2 * at + 1], value], 1)
            mixed = mixed.reshape(spec.heads, count, -1).swapaxes(0, 1).reshape(count, -1)
            x = x + mixed @ read(at, "self_attn.o_proj").T
            normed = rms_norm(x, read(at, "post_attention_layernorm"), eps)
            gate, up = (normed @ read(at, f"mlp.{part}_proj").T for part in ("gate", "up"))
            x = x + (silu(gate) * up) @ read(at, "mlp.down_proj").T
            made += [key, value]
        return [rms_norm(x, self._weights[f"{self._prefix}.norm.weight"], eps), *made]
