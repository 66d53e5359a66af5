"""A voice as two graphs: an encoder that runs once a sentence and a decoder that runs in pieces.

Inputs and outputs get the same names whatever the exporter called them:

- encoder: ids, lengths, scales, speaker, duration_noise -> mean, log_std, durations (cut before the
  flow) or latent (cut after it), and speaker_embedding;
- decoder: mean, log_std, noise, scales, mask or latent, mask, and speaker_embedding -> audio.

Only those that a voice has. Shapes: ids int64 [1, phonemes]; mean, log_std of the encoder
[1, channels, phonemes], of the decoder [1, channels, frames]; durations [1, 1, phonemes].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2s.models.onnx_file import FLOAT, INT64, OnnxFile, ValueInfo
from s2s.tts.vits.errors import CutError
from s2s.tts.vits.graph.cuts import (
    DecoderCut,
    FlowCut,
    Inputs,
    find_decoder,
    find_flow,
    find_inputs,
)
from s2s.tts.vits.graph.graph import Graph
from s2s.tts.vits.graph.receptive_field import receptive_field
from s2s.tts.vits.windows import FALLBACK_CONTEXT, Context

Cut = Literal["before_flow", "latent"]
CUTS: tuple[Cut, ...] = ("before_flow", "latent")
"""In order of preference: the earlier the cut, the less has to run before the first sound."""

AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class Parts:
    """The two graphs of a voice."""

    encoder: OnnxFile
    decoder: OnnxFile
    cut: Cut
    channels: int

    @property
    def moving(self) -> dict[str, int]:
        """Inputs of the decoder that run along time, without the mask -> channels."""
        names = ("mean", "log_std", "noise") if self.cut == "before_flow" else ("latent",)
        return dict.fromkeys(names, self.channels)

    @property
    def mask(self) -> str | None:
        """The decoder's mask input, if it has one."""
        return "mask" if any(value.name == "mask" for value in self.decoder.inputs) else None

    def receptive_field(self) -> tuple[Context, int | None]:
        """Context of the decoder, and its hop; (the safe context, None) where that is not known."""
        try:
            found = receptive_field(Graph(self.decoder), self.moving, AUDIO)
        except CutError:
            return FALLBACK_CONTEXT, None
        return found.context, found.hop


def cut_voice(model: OnnxFile, cut: Cut) -> Parts:
    """Cut a single-graph voice. Raises CutError where the graph has no such place."""
    inputs = find_inputs(model)
    graph = Graph(model)
    decoder = find_decoder(graph, inputs)
    flow = None
    if cut == "before_flow":
        flow = find_flow(graph, inputs, decoder.latent, decoder.speaker)
    return Parts(
        _encoder(graph, inputs, decoder, flow),
        _decoder(graph, inputs, decoder, flow),
        cut,
        decoder.channels,
    )


def _encoder(graph: Graph, inputs: Inputs, decoder: DecoderCut, flow: FlowCut | None) -> OnnxFile:
    given = _text_inputs(inputs)
    channels = decoder.channels
    if flow is None:
        wanted = {decoder.latent: _float("latent", channels, "frames")}
    else:
        wanted = {
            flow.token_mean: _float("mean", channels, "phonemes"),
            flow.token_log_std: _float("log_std", channels, "phonemes"),
            flow.durations: _float("durations", 1, "phonemes"),
        }
        if flow.duration_noise:
            given[flow.duration_noise] = _float("duration_noise", 2, "phonemes")
    if decoder.speaker and decoder.speaker != inputs.speaker:
        wanted[decoder.speaker] = _speaker(decoder, inputs)
    used = graph.before(wanted, given)
    return graph.cut({k: v for k, v in given.items() if k in used}, wanted)


def _decoder(graph: Graph, inputs: Inputs, decoder: DecoderCut, flow: FlowCut | None) -> OnnxFile:
    channels = decoder.channels
    if flow is None:
        given = {decoder.latent: _float("latent", channels, "frames")}
    else:
        given = {
            flow.mean: _float("mean", channels, "frames"),
            flow.log_std: _float("log_std", channels, "frames"),
            flow.noise: _float("noise", channels, "frames"),
            inputs.scales: ValueInfo("scales", FLOAT, (3,)),
        }
        if flow.mask:
            given[flow.mask] = _float("mask", 1, "frames")
    if decoder.speaker:
        given[decoder.speaker] = _speaker(decoder, inputs)
    output = graph.model.outputs[0]
    wanted = {output.name: ValueInfo(AUDIO, FLOAT, output.shape)}
    used = graph.before(wanted, given)
    return graph.cut({k: v for k, v in given.items() if k in used}, wanted)


def _text_inputs(inputs: Inputs) -> dict[str, ValueInfo]:
    given = {
        inputs.ids: ValueInfo("ids", INT64, ("batch", "phonemes")),
        inputs.lengths: ValueInfo("lengths", INT64, ("batch",)),
        inputs.scales: ValueInfo("scales", FLOAT, (3,)),
    }
    if inputs.speaker:
        given[inputs.speaker] = ValueInfo("speaker", INT64, ("batch",))
    return given


def _float(name: str, channels: int, along: str) -> ValueInfo:
    return ValueInfo(name, FLOAT, ("batch", channels, along))


def _speaker(decoder: DecoderCut, inputs: Inputs) -> ValueInfo:
    if decoder.speaker == inputs.speaker:
        return ValueInfo("speaker", INT64, ("batch",))
    return ValueInfo("speaker_embedding", FLOAT, decoder.speaker_shape)


# --- voices that come as two files -------------------------------------------------------------


def adopt_pair(encoder: OnnxFile, decoder: OnnxFile) -> Parts:
    """Two graphs that were cut elsewhere, with our names; matched by type, shape and name.

    The decoder takes the latent [batch, channels, frames], maybe its mask [batch, 1, frames] and
    maybe the speaker, as an embedding or as a number.

    Raises:
        CutError: the two do not fit together.
    """
    inputs = find_inputs(encoder)
    roles = _pair_roles(decoder)
    if "latent" not in roles:
        raise CutError("the decoder has no latent input [batch, channels, frames]")
    channels = _latent_channels(decoder, roles["latent"].name)
    given = {
        value.name: ValueInfo(role, value.item_type, value.shape) for role, value in roles.items()
    }
    audio = decoder.outputs[0]
    part = Graph(decoder).cut(given, {audio.name: ValueInfo(AUDIO, FLOAT, audio.shape)})
    wanted = {_same_output(encoder, roles["latent"].name): _float("latent", channels, "frames")}
    embedding = roles.get("speaker_embedding")
    if embedding is not None:
        wanted[_same_output(encoder, embedding.name)] = ValueInfo(
            "speaker_embedding", FLOAT, embedding.shape
        )
    graph = Graph(encoder)
    text = _text_inputs(inputs)
    used = graph.before(wanted, text)
    whole = graph.cut({k: v for k, v in text.items() if k in used}, wanted)
    return Parts(whole, part, "latent", channels)


def _pair_roles(decoder: OnnxFile) -> dict[str, ValueInfo]:
    roles: dict[str, ValueInfo] = {}
    for value in decoder.inputs:
        match value.shape:
            case _ if value.item_type == INT64:
                role = "speaker"
            case (_, _, 1):
                role = "speaker_embedding"
            case (_, channels, _) if channels == 1 or "mask" in value.name:
                role = "mask"
            case (_, _, _):
                role = "latent"
            case _:
                raise CutError(f"the decoder's input '{value.name}' {value.shape} is unknown")
        if role in roles:
            raise CutError(f"'{value.name}' and '{roles[role].name}' both look like the {role}")
        roles[role] = value
    return roles


def _latent_channels(decoder: OnnxFile, latent: str) -> int:
    graph = Graph(decoder)
    for name in [latent, *(node.outputs[0] for node in graph.users_of(latent))]:
        for node in graph.users_of(name):
            weight = decoder.weights.get(node.inputs[1]) if node.op == "Conv" else None
            if weight is not None and len(weight.dims) == 3:
                return weight.dims[1]
    raise CutError(f"no convolution takes the decoder's input '{latent}'")


def _same_output(encoder: OnnxFile, name: str) -> str:
    names = [value.name for value in encoder.outputs]
    if name in names:
        return name
    raise CutError(f"the encoder gives {names}, the decoder wants '{name}'")
