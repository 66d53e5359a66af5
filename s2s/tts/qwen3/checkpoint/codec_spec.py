"""The shape of the 12 Hz speech tokenizer, read from ``speech_tokenizer/config.json``.

Dimensions are never literals elsewhere. Field names follow the checkpoint's own config
(Qwen3TTSTokenizerV2Config and MimiConfig of the official package).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import cast

from s2s.tts.qwen3.errors import CodecError

Config = Mapping[str, object]


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
    def from_config(cls, config: Config) -> CodecDecoderSpec:
        """From the ``decoder_config`` part. Raises CodecError naming a field that is missing."""
        hidden, heads = _int(config, "hidden_size"), _int(config, "num_attention_heads")
        head_dim = config.get("head_dim")
        return cls(
            codebook_size=_int(config, "codebook_size"),
            code_groups=_int(config, "num_quantizers"),
            codebook_dim=_int(config, "codebook_dim"),
            latent_dim=_int(config, "latent_dim"),
            hidden_size=hidden,
            intermediate_size=_int(config, "intermediate_size"),
            layers=_int(config, "num_hidden_layers"),
            heads=heads,
            key_value_heads=_int(config, "num_key_value_heads"),
            head_dim=hidden // heads if head_dim is None else _int(config, "head_dim"),
            window_frames=_int(config, "sliding_window"),
            rope_theta=_float(config, "rope_theta"),
            rms_norm_eps=_float(config, "rms_norm_eps"),
            upsampling_ratios=_ints(config, "upsampling_ratios"),
            decoder_dim=_int(config, "decoder_dim"),
            upsample_rates=_ints(config, "upsample_rates"),
        )


@dataclass(frozen=True, slots=True)
class CodecEncoderSpec:
    """Samples to codes: the encoder half of Mimi."""

    code_groups: int
    """Groups kept; the checkpoint holds more books than are used."""
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
    def from_config(cls, config: Config, code_groups: int) -> CodecEncoderSpec:
        """From the ``encoder_config`` part, a MimiConfig.

        A field that is absent has MimiConfig's default, as in the official package.
        Raises CodecError for a variant no released checkpoint uses.
        """
        full = {**_MIMI_DEFAULTS, **config}
        for key, expected in _MIMI_FIXED.items():
            if full.get(key) != expected:
                raise CodecError(
                    f"encoder_config.{key} is {full.get(key)!r}; only {expected!r} is supported"
                )
        hidden, heads = _int(full, "hidden_size"), _int(full, "num_attention_heads")
        ratios = tuple(reversed(_ints(full, "upsampling_ratios")))
        rate_hz = _int(full, "sampling_rate")
        convolution_hz = -(-rate_hz // prod(ratios))
        frame_hz = full.get("frame_rate") or full.get("_frame_rate") or 12.5
        downsample = convolution_hz / cast(float, frame_hz)
        if downsample != 2:
            raise CodecError(
                f"encoder_config.frame_rate is {frame_hz} where the convolutions give "
                f"{convolution_hz} Hz; only half of that is supported"
            )
        return cls(
            code_groups=code_groups,
            semantic_groups=_int(full, "num_semantic_quantizers"),
            codebook_size=_int(full, "codebook_size"),
            codebook_dim=_int(full, "codebook_dim"),
            num_filters=_int(full, "num_filters"),
            kernel_size=_int(full, "kernel_size"),
            last_kernel_size=_int(full, "last_kernel_size"),
            residual_kernel_size=_int(full, "residual_kernel_size"),
            residual_layers=_int(full, "num_residual_layers"),
            dilation_growth_rate=_int(full, "dilation_growth_rate"),
            compress=_int(full, "compress"),
            ratios=ratios,
            hidden_size=hidden,
            intermediate_size=_int(full, "intermediate_size"),
            layers=_int(full, "num_hidden_layers"),
            heads=heads,
            key_value_heads=_int(full, "num_key_value_heads"),
            head_dim=hidden // heads if full.get("head_dim") is None else _int(full, "head_dim"),
            rope_theta=_float(full, "rope_theta"),
            norm_eps=_float(full, "norm_eps"),
            downsample=int(downsample),
            sample_rate_hz=rate_hz,
        )


@dataclass(frozen=True, slots=True)
class CodecSpec:
    """Both halves of the tokenizer."""

    decoder: CodecDecoderSpec
    encoder: CodecEncoderSpec
    sample_rate_hz: int

    @classmethod
    def from_config(cls, config: Config) -> CodecSpec:
        """From the whole ``speech_tokenizer/config.json``.

        Raises CodecError when it is not a 12 Hz tokenizer or a field is missing or wrong.
        """
        kind = config.get("model_type")
        if kind != "qwen3_tts_tokenizer_12hz":
            raise CodecError(
                f"speech_tokenizer/config.json has model_type {kind!r}; "
                "only 'qwen3_tts_tokenizer_12hz' is supported"
            )
        decoder = CodecDecoderSpec.from_config(_part(config, "decoder_config"))
        encoder = CodecEncoderSpec.from_config(
            _part(config, "encoder_config"), _int(config, "encoder_valid_num_quantizers")
        )
        for key, found in (
            ("decode_upsample_rate", decoder.samples_per_frame),
            ("encode_downsample_rate", encoder.samples_per_frame),
        ):
            if _int(config, key) != found:
                raise CodecError(
                    f"speech_tokenizer/config.json: {key} is {config[key]}, "
                    f"but its layers make it {found}"
                )
        return cls(decoder, encoder, _int(config, "output_sample_rate"))


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


def _part(config: Config, key: str) -> Config:
    value = config.get(key)
    if not isinstance(value, Mapping):
        raise CodecError(f"speech_tokenizer/config.json has no section {key!r}")
    return cast(Config, value)


def _int(config: Config, key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise CodecError(f"codec config: {key} must be a positive integer, got {value!r}")
    return value


def _float(config: Config, key: str) -> float:
    value = config.get(key)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise CodecError(f"codec config: {key} must be a positive number, got {value!r}")
    return float(value)


def _ints(config: Config, key: str) -> tuple[int, ...]:
    value = config.get(key)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, int) for item in value):
        raise CodecError(f"codec config: {key} must be a list of integers, got {value!r}")
    return tuple(cast("list[int]", value))
