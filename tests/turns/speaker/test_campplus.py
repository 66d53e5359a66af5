"""The graph against the network as its paper has it, layer by layer in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from s2s.core.arrays import Floats
from s2s.system.onnx import onnx_session
from s2s.turns.speaker.campplus import DIMENSIONS, INPUT, OUTPUT, campplus_graph

Wide = npt.NDArray[np.float64]
BLOCKS = ((1, 12, 1), (2, 24, 2), (3, 16, 2))


class Net:
    """Random weights of the right shapes, and what the network makes of them."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(3)
        self.tensors: dict[str, Floats] = {}

    def weight(self, name: str, *shape: int) -> Wide:
        if name not in self.tensors:
            scale = np.sqrt(1.0 / np.prod(shape[1:])) if len(shape) > 1 else 0.1
            self.tensors[name] = (scale * self.random.standard_normal(shape)).astype(np.float32)
        return self.tensors[name].astype(np.float64)

    def norm(self, x: Wide, name: str, *, affine: bool = True) -> Wide:
        """x: [channels, ...]."""
        count = len(x)
        if f"{name}.running_var" not in self.tensors:
            spread = self.random.uniform(0.5, 2.0, count)
            self.tensors[f"{name}.running_var"] = spread.astype(np.float32)
        shape = (count,) + (1,) * (x.ndim - 1)
        mean = self.weight(f"{name}.running_mean", count).reshape(shape)
        variance = self.weight(f"{name}.running_var", count).reshape(shape)
        x = (x - mean) / np.sqrt(variance + 1e-5)
        if not affine:
            return x
        scale = self.weight(f"{name}.weight", count).reshape(shape)
        return x * scale + self.weight(f"{name}.bias", count).reshape(shape)

    def image(self, x: Wide, name: str, out: int, kernel: int, stride: int) -> Wide:
        """x: [channels, height, width]; strides along the height."""
        weight = self.weight(f"{name}.weight", out, len(x), kernel, kernel)
        pad = kernel // 2
        padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
        height = (x.shape[1] + 2 * pad - kernel) // stride + 1
        made = np.zeros((out, height, x.shape[2]))
        for row in range(kernel):
            for column in range(kernel):
                part = padded[:, row : row + stride * height : stride, column:][:, :height]
                made += np.einsum("oc,chw->ohw", weight[:, :, row, column],
                                  part[:, :, : x.shape[2]])  # fmt: skip
        return made

    def sequence(
        self, x: Wide, name: str, out: int, kernel: int, *, stride: int = 1, dilation: int = 1,
        bias: bool = False,
    ) -> Wide:  # fmt: skip
        """x: [channels, steps]."""
        weight = self.weight(f"{name}.weight", out, len(x), kernel)
        pad = dilation * (kernel // 2)
        padded = np.pad(x, ((0, 0), (pad, pad)))
        steps = (padded.shape[1] - dilation * (kernel - 1) - 1) // stride + 1
        made = np.zeros((out, steps))
        for tap in range(kernel):
            first = tap * dilation
            made += (
                weight[:, :, tap] @ padded[:, first : first + stride * steps : stride][:, :steps]
            )
        return made + self.weight(f"{name}.bias", out)[:, None] if bias else made

    def residual(self, x: Wide, name: str, stride: int) -> Wide:
        inner = relu(self.norm(self.image(x, f"{name}.conv1", 32, 3, stride), f"{name}.bn1"))
        inner = self.norm(self.image(inner, f"{name}.conv2", 32, 3, 1), f"{name}.bn2")
        if stride > 1:
            x = self.image(x, f"{name}.shortcut.0", 32, 1, stride)
            x = self.norm(x, f"{name}.shortcut.1")
        return relu(inner + x)

    def masked(self, x: Wide, name: str, dilation: int) -> Wide:
        x = relu(self.norm(x, f"{name}.nonlinear1.batchnorm"))
        x = relu(self.norm(self.sequence(x, f"{name}.linear1", 128, 1),
                           f"{name}.nonlinear2.batchnorm"))  # fmt: skip
        local = self.sequence(x, f"{name}.cam_layer.linear_local", 32, 3, dilation=dilation)
        stretch = x[:, :100].mean(axis=1, keepdims=True)  # two seconds: here all of it
        context = x.mean(axis=1, keepdims=True) + stretch
        mask = relu(self.sequence(context, f"{name}.cam_layer.linear1", 64, 1, bias=True))
        mask = self.sequence(mask, f"{name}.cam_layer.linear2", 32, 1, bias=True)
        return local / (1.0 + np.exp(-mask))

    def embedding(self, features: Wide) -> Wide:
        """[192] of [frames, 80]."""
        x = relu(self.norm(self.image(features.T[None], "head.conv1", 32, 3, 1), "head.bn1"))
        for layer in ("head.layer1", "head.layer2"):
            x = self.residual(self.residual(x, f"{layer}.0", 2), f"{layer}.1", 1)
        x = relu(self.norm(self.image(x, "head.conv2", 32, 3, 2), "head.bn2"))
        x = x.reshape(320, -1)
        x = self.sequence(x, "xvector.tdnn.linear", 128, 5, stride=2)
        x = relu(self.norm(x, "xvector.tdnn.nonlinear.batchnorm"))
        for number, layers, dilation in BLOCKS:
            for layer in range(1, layers + 1):
                new = self.masked(x, f"xvector.block{number}.tdnnd{layer}", dilation)
                x = np.concatenate([x, new])
            x = relu(self.norm(x, f"xvector.transit{number}.nonlinear.batchnorm"))
            x = self.sequence(x, f"xvector.transit{number}.linear", len(x) // 2, 1)
        x = relu(self.norm(x, "xvector.out_nonlinear.batchnorm"))
        pooled = np.concatenate([x.mean(axis=1), x.std(axis=1, ddof=1)])[:, None]
        voice = self.sequence(pooled, "xvector.dense.linear", DIMENSIONS, 1)
        return self.norm(voice, "xvector.dense.nonlinear.batchnorm", affine=False)[:, 0]


def relu(x: Wide) -> Wide:
    return np.maximum(x, 0.0)


def test_the_graph_is_the_network_of_the_paper() -> None:
    net = Net()
    looks = [net.random.standard_normal((25, 80)) for _ in range(2)]
    expected = np.array([net.embedding(look) for look in looks])
    session = onnx_session(campplus_graph(net.tensors))
    features = np.array(looks, dtype=np.float32)
    made = np.asarray(session.run([OUTPUT], {INPUT: features})[0])
    np.testing.assert_allclose(made, expected, atol=2e-4 * float(np.abs(expected).max()))


def test_another_checkpoint_is_told_by_what_it_lacks() -> None:
    with pytest.raises(KeyError, match=r"head\.conv1\.weight"):
        campplus_graph({"else": np.zeros(1, dtype=np.float32)})
