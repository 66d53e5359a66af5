"""The shape of the 12 Hz speech tokenizer, read from ``speech_tokenizer/config.json``.

Dimensions are never literals elsewhere. Field names follow the checkpoint's own config
(Qwen3TTSTokenizerV2Config and MimiConfig of the official package).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from s2s.tts.qwen3.checkpoint.fields import Config, Fields, read_object
from s2s.tts.qwen3.checkpoint.spec import (
    EPSILONS,
    MAX_CODES,
    MAX_GROUPS,
    MAX_INNER_WIDTH,
    MAX_LAYERS,
    MAX_WIDTH,
    Spec,
    head_counts,
    rope_theta,
)
from s2s.tts.qwen3.errors import CodecError

# The most that is read: docs/decisions/qwen3-model-file-bounds.md.
MAX_WINDOW_FRAMES, MAX_STRIDE, MAX_KERNEL, MAX_FIELD = 4096, 64, 64, 4096
MAX_FRAME_SAMPLES = 1 << 15
_MODEL_TYPE = "qwen3_tts_tokenizer_12hz"
MIN_RATE_HZ, MAX_RATE_HZ = 8_000, 192_000
FRAME_HZ = 12.5
"""Frames a second, of every 12 Hz model."""


@dataclass(frozen=True, slots=True)
class CodecDecoderSpec:
    """Codes to samples."""

    codebook_size: int
    code_groups: int
    codebook_dim: int
    """Width of the quantizer's output; one code vector is half as wide."""
    latent_dim: int
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    key_value_heads: int
    head_dim: int
    window_frames: int
    rope_theta: float
    rms_norm_eps: float
    upsampling_ratios: tuple[int, ...]
    decoder_dim: int
    upsample_rates: tuple[int, ...]

    @property
    def samples_per_frame(self) -> int:
        """Samples one frame of codes decodes to."""
        return prod(self.upsampling_ratios) * prod(self.upsample_rates)

    @classmethod
    def from_config(cls, read: Fields) -> CodecDecoderSpec:
        """From the ``decoder_config`` part. Raises CodecError that names a field."""
        for key, computed in _DECODER_FIXED.items():
            read.fixed(key, computed)
        heads, key_value_heads, head_dim = head_counts(read)
        rates = read.wholes("upsample_rates", MAX_STRIDE, range(2, 7))
        ratios = read.wholes("upsampling_ratios", MAX_STRIDE, range(1, 5))
        if prod(rates) * prod(ratios) > MAX_FRAME_SAMPLES:
            read.refuse("upsample_rates", f"make more than {MAX_FRAME_SAMPLES} samples a frame")
        return cls(
            codebook_size=read.whole("codebook_size", 1, MAX_CODES),
            code_groups=read.whole("num_quantizers", 2, MAX_GROUPS),
            codebook_dim=_multiple(read, "codebook_dim", 2),
            latent_dim=read.whole("latent_dim", 1, MAX_WIDTH),
            hidden_size=read.whole("hidden_size", 1, MAX_WIDTH),
            intermediate_size=read.whole("intermediate_size", 1, MAX_INNER_WIDTH),
            layers=read.whole("num_hidden_layers", 1, MAX_LAYERS),
            heads=heads,
            key_value_heads=key_value_heads,
            head_dim=head_dim,
            window_frames=read.whole("sliding_window", 2, MAX_WINDOW_FRAMES),
            rope_theta=rope_theta(read),
            rms_norm_eps=read.number("rms_norm_eps", *EPSILONS),
            upsampling_ratios=ratios,
            decoder_dim=_multiple(read, "decoder_dim", 2 ** len(rates)),
            upsample_rates=rates,
        )


@dataclass(frozen=True, slots=True)
class CodecEncoderSpec:
    """Samples to codes: the encoder half of Mimi."""

    code_groups: int
    """Groups kept; the checkpoint holds more codebooks than are used."""
    semantic_groups: int
    codebook_size: int
    codebook_dim: int
    num_filters: int
    kernel_size: int
    last_kernel_size: int
    residual_kernel_size: int
    residual_layers: int
    dilation_growth_rate: int
    compress: int
    ratios: tuple[int, ...]
    """Strides of the convolutions from the samples down, the config's list reversed."""
    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    key_value_heads: int
    head_dim: int
    rope_theta: float
    norm_eps: float
    downsample: int
    """Stride from the convolutions' frame rate to the codes' rate."""
    sample_rate_hz: int

    @property
    def samples_per_frame(self) -> int:
        """Samples one frame of codes stands for."""
        return prod(self.ratios) * self.downsample

    @classmethod
    def from_config(cls, given: Fields, code_groups: int) -> CodecEncoderSpec:
        """From the ``encoder_config`` part, a MimiConfig.

        A field that is absent has MimiConfig's default, as in the official package.
        Raises CodecError for a variant no released checkpoint uses.
        """
        known = {key: value for key, value in given.config.items() if value is not None}
        read = replace(given, config={**_MIMI_DEFAULTS, **known})
        for key, computed in _MIMI_FIXED.items():
            read.fixed(key, computed)
        heads, key_value_heads, head_dim = head_counts(read)
        semantic = read.whole("num_semantic_quantizers", 1, MAX_GROUPS)
        if semantic >= code_groups:
            read.refuse("num_semantic_quantizers", f"is {semantic} of {code_groups} in use")
        ratios = tuple(reversed(read.wholes("upsampling_ratios", MAX_STRIDE, range(1, 7))))
        num_filters = read.whole("num_filters", 1, MAX_WIDTH >> len(ratios))
        growth = read.whole("dilation_growth_rate", 1, MAX_STRIDE)
        residuals = read.whole("num_residual_layers", 1, 8)
        kernel = read.whole("residual_kernel_size", 1, MAX_KERNEL)
        if kernel * growth ** (residuals - 1) > MAX_FIELD:
            read.refuse("dilation_growth_rate", f"makes a receptive field over {MAX_FIELD} steps")
        return cls(
            code_groups=code_groups,
            semantic_groups=semantic,
            codebook_size=read.whole("codebook_size", 1, MAX_CODES),
            codebook_dim=read.whole("codebook_dim", 1, MAX_WIDTH),
            num_filters=num_filters,
            kernel_size=read.whole("kernel_size", 1, MAX_KERNEL),
            last_kernel_size=read.whole("last_kernel_size", 1, MAX_KERNEL),
            residual_kernel_size=kernel,
            residual_layers=residuals,
            dilation_growth_rate=growth,
            compress=read.whole("compress", 1, num_filters),
            ratios=ratios,
            hidden_size=read.whole("hidden_size", 1, MAX_WIDTH),
            intermediate_size=read.whole("intermediate_size", 1, MAX_INNER_WIDTH),
            layers=read.whole("num_hidden_layers", 1, MAX_LAYERS),
            heads=heads,
            key_value_heads=key_value_heads,
            head_dim=head_dim,
            rope_theta=rope_theta(read),
            norm_eps=read.number("norm_eps", *EPSILONS),
            downsample=_downsample(read, prod(ratios)),
            sample_rate_hz=read.whole("sampling_rate", MIN_RATE_HZ, MAX_RATE_HZ),
        )


def _downsample(read: Fields, stride: int) -> int:
    """From the convolutions' rate to that of codes. Raises CodecError unless it is two."""
    convolution_hz = -(-read.whole("sampling_rate", MIN_RATE_HZ, MAX_RATE_HZ) // stride)
    key = "frame_rate" if read.has("frame_rate") else "_frame_rate"
    frame_hz = read.number(key, 0.1, 1000, FRAME_HZ)
    if convolution_hz / frame_hz != 2:
        read.refuse(
            key,
            f"is {frame_hz:g} where the convolutions give {convolution_hz} Hz; only half of that "
            "is supported",
        )
    return 2


def _multiple(read: Fields, key: str, of: int) -> int:
    value = read.whole(key, 1, MAX_WIDTH)
    if value % of:
        read.refuse(key, f"is {value}, no multiple of {of}")
    return value


@dataclass(frozen=True, slots=True)
class CodecSpec:
    """Both halves of the tokenizer."""

    decoder: CodecDecoderSpec
    encoder: CodecEncoderSpec
    sample_rate_hz: int

    @classmethod
    def from_config(
        cls, config: Config, file: str | Path = "speech_tokenizer/config.json"
    ) -> CodecSpec:
        """From the whole ``speech_tokenizer/config.json``; file: for errors.

        Raises CodecError when it is not a 12 Hz tokenizer or a field is missing or wrong.
        """
        read = Fields(config, str(file), error=CodecError)
        if config.get("model_type") != _MODEL_TYPE:
            read.refuse(
                "model_type",
                f"is {config.get('model_type')!r:.80}; only {_MODEL_TYPE!r} is supported",
                "take the speech tokenizer of a 12 Hz model",
            )
        decoder = CodecDecoderSpec.from_config(read.section("decoder_config"))
        encoder = CodecEncoderSpec.from_config(
            read.section("encoder_config"),
            read.whole("encoder_valid_num_quantizers", 2, MAX_GROUPS),
        )
        for key, found in (
            ("decode_upsample_rate", decoder.samples_per_frame),
            ("encode_downsample_rate", encoder.samples_per_frame),
        ):
            if read.whole(key, 1, MAX_FRAME_SAMPLES) != found:
                read.refuse(key, f"is {config[key]}, but its layers make it {found}")
        rate_hz = read.whole("output_sample_rate", MIN_RATE_HZ, MAX_RATE_HZ)
        if rate_hz != FRAME_HZ * decoder.samples_per_frame:
            read.refuse(
                "output_sample_rate",
                f"is {rate_hz}, but {FRAME_HZ} frames a second of {decoder.samples_per_frame} "
                f"samples are {FRAME_HZ * decoder.samples_per_frame:g}",
            )
        return cls(decoder, encoder, rate_hz)


def read_codec_spec(folder: Path) -> CodecSpec:
    """The spec of a ``speech_tokenizer`` folder. Raises CodecError."""
    file = folder / "config.json"
    return CodecSpec.from_config(read_object(file, CodecError), file)


def check_pair(spec: Spec, codec: CodecSpec, file: Path) -> None:
    """Raise CodecError unless the codec decodes what the language model makes."""
    read = Fields({}, str(file), "decoder_config", CodecError)
    if codec.decoder.code_groups != spec.groups:
        found = codec.decoder.code_groups
        read.refuse("num_quantizers", f"is {found}; the model makes {spec.groups} codes a frame")
    if codec.decoder.codebook_size < spec.codes:
        found = codec.decoder.codebook_size
        read.refuse("codebook_size", f"is {found}; the model makes codes below {spec.codes}")


_DECODER_FIXED: dict[str, object] = {
    "attention_bias": False,
    "hidden_act": "silu",
    "num_semantic_quantizers": 1,
}

_MIMI_DEFAULTS: dict[str, object] = {
    "sampling_rate": 24_000,
    "num_filters": 64,
    "kernel_size": 7,
    "last_kernel_size": 3,
    "residual_kernel_size": 3,
    "num_residual_layers": 1,
    "dilation_growth_rate": 2,
    "compress": 2,
    "upsampling_ratios": (8, 6, 5, 4),
    "codebook_size": 2048,
    "codebook_dim": 256,
    "hidden_size": 512,
    "intermediate_size": 2048,
    "num_hidden_layers": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "num_semantic_quantizers": 1,
    "rope_theta": 10_000.0,
    "norm_eps": 1e-5,
    "audio_channels": 1,
    "use_causal_conv": True,
    "pad_mode": "constant",
    "use_conv_shortcut": False,
    "attention_bias": False,
    "hidden_act": "gelu",
}

_MIMI_FIXED: dict[str, object] = {
    "audio_channels": 1,
    "use_causal_conv": True,
    "pad_mode": "constant",
    "use_conv_shortcut": False,
    "attention_bias": False,
    "hidden_act": "gelu",
}
