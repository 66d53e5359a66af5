"""Where a VITS graph can be cut, found by its structure; exporters name things differently.

    ids ─► text encoder, durations ─► expand ─► + noise ─► flow ─► latent ─► HiFi-GAN ─► sound
           └──────── text ────────┘              └──── flow ────┘           └─ decoder ─┘
           └───────────────────── encoder ──────────────────────┘

Expanding to frames (each phoneme's mean and deviation repeated for its duration) is a product with
a matrix of ones and zeros in the graph, and a plain repeat outside it: the same numbers. Kim, Kong
and Son, "Conditional Variational Autoencoder with Adversarial Learning for End-to-End
Text-to-Speech", 2021, sections 2.2 to 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from s2s.models.onnx_file import FLOAT, INT64, Node, OnnxFile
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.graph import Graph

OLDEST_OPSET, NEWEST_OPSET = 11, 26
"""Operator sets whose convolutions, slices and pads mean what this package takes them to mean."""

_ALONG_THE_WAY = frozenset({"LeakyRelu", "Relu", "Add", "Mul", "Identity", "Cast"})


@dataclass(frozen=True, slots=True)
class Inputs:
    """Names of a voice's inputs, found by type and shape."""

    ids: str
    lengths: str
    scales: str
    speaker: str | None


@dataclass(frozen=True, slots=True)
class DecoderCut:
    """Where the waveform decoder begins."""

    latent: str
    channels: int
    speaker: str | None
    """Speaker embedding [1, size, 1] (or the speaker number itself) that conditions it."""
    speaker_shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FlowCut:
    """Values around the expansion to frames and the flow."""

    token_mean: str
    """[1, channels, phonemes]"""
    token_log_std: str
    durations: str
    """float32 [1, 1, phonemes], whole frames"""
    mean: str
    """[1, channels, frames]"""
    log_std: str
    noise: str
    mask: str | None
    """[1, 1, frames] of ones, for a batch of one"""
    duration_noise: str | None
    """[1, 2, phonemes], for the stochastic duration predictor"""


def find_inputs(model: OnnxFile) -> Inputs:
    """Tell a voice's inputs apart. Raises CutError when they are not a VITS voice's."""
    if not OLDEST_OPSET <= model.opset <= NEWEST_OPSET:
        raise CutError(
            f"operator set {model.opset} is not supported ({OLDEST_OPSET} to {NEWEST_OPSET} are). "
            "Export the voice again, or convert it with onnx.version_converter"
        )
    ids = [x.name for x in model.inputs if x.item_type == INT64 and len(x.shape) == 2]
    single = [x.name for x in model.inputs if x.item_type == INT64 and len(x.shape) == 1]
    scales = [x.name for x in model.inputs if x.item_type == FLOAT and x.shape == (3,)]
    lengths = [name for name in single if "len" in name.lower()]
    speakers = [name for name in single if name not in lengths]
    if (len(ids), len(lengths), len(scales)) != (1, 1, 1) or len(speakers) > 1:
        listed = ", ".join(f"{x.name}{list(x.shape)}" for x in model.inputs)
        raise CutError(
            "not a Piper/VITS voice: expected int64 ids [batch, phonemes], int64 lengths [batch], "
            f"float32 scales [3] and at most one speaker [batch], found {listed or 'no inputs'}"
        )
    return Inputs(ids[0], lengths[0], scales[0], speakers[0] if speakers else None)


def find_decoder(graph: Graph, inputs: Inputs) -> DecoderCut:
    """Find the value that enters the waveform decoder.

    It is the data input of the convolution in front of the first transposed convolution on the way
    to the output. The flow has convolutions over as many channels, but none of them leads to a
    transposed one without passing this.

    Raises:
        CutError: no HiFi-GAN decoder there, or it needs more than latent and speaker.
    """
    if len(graph.output_names) != 1:
        raise CutError(f"expected one output, the waveform, found {graph.output_names}")
    output = graph.output_names[0]
    needed = graph.before([output])
    upsample = next(
        (n for n in graph.model.nodes if n.op == "ConvTranspose" and n.outputs[0] in needed), None
    )
    if upsample is None:
        raise CutError("no transposed convolution: not a HiFi-GAN waveform decoder")
    entry = _entry_convolution(graph, upsample)
    weight = graph.model.weights.get(entry.inputs[1])
    if weight is None or len(weight.dims) != 3:
        raise CutError(f"the weight of '{entry.name}' is computed, not stored")
    latent = entry.inputs[0]
    speaker, shape = _speaker_embedding(graph, inputs)
    stop = [latent, speaker] if speaker else [latent]
    if extra := graph.inputs_of([output], stop):
        raise CutError(f"the waveform decoder also needs {sorted(extra)}")
    if latent not in graph.after([inputs.ids]):
        raise CutError(f"the decoder's input '{latent}' does not depend on the phonemes")
    if speaker and speaker not in graph.before([output], [latent]):
        speaker = None
    return DecoderCut(latent, weight.dims[1], speaker, shape if speaker else ())


def _entry_convolution(graph: Graph, upsample: Node) -> Node:
    """The convolution in front of `upsample`, past activations and the sum with the speaker."""
    found: list[Node] = []
    todo = [upsample.inputs[0]]
    while todo:
        node = graph.maker.get(todo.pop())
        if node is None:
            continue
        if node.op == "Conv":
            found.append(node)
        elif node.op in _ALONG_THE_WAY:
            todo.extend(node.inputs)
    # The speaker's own convolution has one tap: its input has no time axis to look along.
    wide = [node for node in found if _taps(graph, node) > 1]
    if len(wide) != 1:
        raise CutError(
            f"no single convolution leads into '{upsample.name}': found "
            f"{[node.name for node in found]}"
        )
    return wide[0]


def _taps(graph: Graph, node: Node) -> int:
    shape = node.ints_attribute("kernel_shape")
    if shape is None:
        weight = graph.model.weights.get(node.inputs[1])
        shape = weight.dims[2:] if weight else (1,)
    return shape[0] if shape else 1


def _speaker_embedding(graph: Graph, inputs: Inputs) -> tuple[str | None, tuple[int, ...]]:
    """The value that the speaker number becomes before the graph branches, and its shape."""
    if inputs.speaker is None:
        return None, ()
    name, size = inputs.speaker, 0
    while True:
        users = graph.users_of(name)
        if len(users) != 1 or users[0].op not in ("Gather", "Unsqueeze", "Identity", "Transpose"):
            break
        table = graph.model.weights.get(users[0].inputs[0])
        if users[0].op == "Gather" and table is not None and len(table.dims) == 2:
            size = table.dims[1]
        name = users[0].outputs[0]
    return name, ((1, size, 1) if size else (1,))


def find_flow(graph: Graph, inputs: Inputs, latent: str, speaker: str | None) -> FlowCut:
    """Find the expansion to frames and the flow between it and `latent`.

    Raises:
        CutError: the graph is built differently there.
    """
    mean, log_std, noise = _sampling(graph, inputs, latent)
    path, token_mean = _expansion(graph, mean)
    other_path, token_log_std = _expansion(graph, log_std)
    if path != other_path:
        raise CutError("mean and deviation are expanded by different durations")
    before_path = graph.before([path]) - graph.before([token_mean, token_log_std])
    rounded = [n for n in graph.model.nodes if n.op == "Ceil" and n.outputs[0] in before_path]
    if len(rounded) != 1:
        raise CutError(f"expected one rounding of durations, found {len(rounded)}")
    durations = rounded[0].outputs[0]
    randoms = _randoms(graph, graph.before([durations]))
    if len(randoms) > 1:
        raise CutError("more than one source of noise in the durations")
    mask = _mask(graph, inputs, latent, (mean, log_std, noise), speaker)
    return FlowCut(
        token_mean=token_mean,
        token_log_std=token_log_std,
        durations=durations,
        mean=mean,
        log_std=log_std,
        noise=noise,
        mask=mask,
        duration_noise=randoms[0] if randoms else None,
    )


def _randoms(graph: Graph, among: set[str]) -> list[str]:
    return [
        node.outputs[0]
        for node in graph.model.nodes
        if node.op == "RandomNormalLike" and node.outputs[0] in among
    ]


def _sampling(graph: Graph, inputs: Inputs, latent: str) -> tuple[str, str, str]:
    """(mean, log_std, noise) of `mean + noise * exp(log_std) * noise_scale`."""
    randoms = _randoms(graph, graph.before([latent]))
    if not randoms:
        raise CutError("no random numbers before the flow: not a VITS voice")
    noise = randoms[-1]
    from_ids = graph.after([inputs.ids])
    log_std: str | None = None
    value = noise
    while True:
        users = graph.users_of(value)
        if len(users) != 1 or users[0].op not in ("Mul", "Add"):
            raise CutError(f"the noise '{noise}' is not scaled and added to a mean")
        other = next((name for name in users[0].inputs if name != value), None)
        if other is None:
            raise CutError(f"'{users[0].name}' takes the noise twice")
        if users[0].op == "Add":
            if log_std is None:
                raise CutError(f"the noise '{noise}' has no deviation of its own")
            return other, log_std, noise
        factor = graph.maker.get(other)
        if factor is not None and factor.op == "Exp" and other in from_ids:
            log_std = factor.inputs[0]
        value = users[0].outputs[0]


def _expansion(graph: Graph, value: str) -> tuple[str, str]:
    """(path, tokens) of `transpose(path @ transpose(tokens))`."""
    outer = graph.maker.get(value)
    product = graph.maker.get(outer.inputs[0]) if outer and outer.op == "Transpose" else None
    inner = graph.maker.get(product.inputs[1]) if product and product.op == "MatMul" else None
    if product is None or inner is None or inner.op != "Transpose":
        raise CutError(f"'{value}' is not the expansion of phonemes to frames")
    return product.inputs[0], inner.inputs[0]


def _mask(
    graph: Graph, inputs: Inputs, latent: str, sources: tuple[str, str, str], speaker: str | None
) -> str | None:
    """The one other value from the text side that the flow uses: its mask of frames."""
    in_flow = graph.after(sources) & graph.before([latent])
    from_ids = graph.after([inputs.ids]) - in_flow
    used = {
        name
        for node in graph.model.nodes
        if any(output in in_flow for output in node.outputs) and node.outputs[0] not in sources
        for name in node.inputs
        if name in from_ids and name != speaker
    } - set(sources)
    if len(used) > 1:
        raise CutError(f"the flow uses more of the text side than a mask: {sorted(used)}")
    return used.pop() if used else None
