"""What a Qwen3-TTS checkpoint is: every size, id and name, read from its own config files.

No dimension is a literal anywhere else. Field names follow config.json of the published
Qwen3-TTS-12Hz models; the reading is strict, so that another model says which field is amiss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import cast

from s2s.tts.qwen3.errors import SpecError
from s2s.tts.qwen3.sampling import Sampling

Config = Mapping[str, object]

CONTROL_IDS = 1024
"""The last ids of the codec vocabulary stand for no sound (modeling_qwen3_tts.py, generate)."""


class Kind(Enum):
    """Where a model's voices come from."""

    BASE = "base"
    """From a reference recording."""
    CUSTOM_VOICE = "custom_voice"
    """From a list of trained speakers."""
    VOICE_DESIGN = "voice_design"
    """From a description."""


@dataclass(frozen=True, slots=True)
class DecoderSpec:
    """One Qwen3 decoder: the talker or the code predictor."""

    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    """Codec ids it knows: V for the talker, B for the predictor."""
    rms_norm_eps: float
    rope_theta: float
    max_positions: int

    @classmethod
    def from_config(cls, config: Config, where: str) -> DecoderSpec:
        """From ``talker_config`` or its ``code_predictor_config``; ``where`` is for errors."""
        read = _Reader(config, where)
        hidden, heads = read.integer("hidden_size"), read.integer("num_attention_heads")
        if config.get("attention_bias") or config.get("use_sliding_window"):
            raise SpecError(f"{where}: attention bias and sliding windows are not supported")
        return cls(
            hidden=hidden,
            intermediate=read.integer("intermediate_size"),
            layers=read.integer("num_hidden_layers"),
            heads=heads,
            kv_heads=read.integer("num_key_value_heads"),
            head_dim=read.integer("head_dim") if "head_dim" in config else hidden // heads,
            vocabulary=read.integer("vocab_size"),
            rms_norm_eps=read.number("rms_norm_eps"),
            rope_theta=read.number("rope_theta"),
            max_positions=read.integer("max_position_embeddings"),
        )


@dataclass(frozen=True, slots=True)
class ControlIds:
    """Ids with a meaning. The first seven are rows of the codec table, the last three text
    tokens."""

    pad: int
    bos: int
    eos: int
    think: int
    nothink: int
    think_bos: int
    think_eos: int
    text_pad: int
    text_bos: int
    text_eos: int


@dataclass(frozen=True, slots=True)
class Generation:
    """How speech is sampled; the defaults are those of qwen-tts 0.1.1."""

    talker: Sampling = field(default_factory=Sampling)
    predictor: Sampling = field(default_factory=Sampling)
    repetition_penalty: float = 1.05
    min_new_tokens: int = 2
    max_new_tokens: int = 2048
    """Includes the end of speech."""

    @classmethod
    def from_config(cls, config: Config) -> Generation:
        """From generation_config.json; a field that is absent keeps its default."""
        read = _Reader(config, "generation_config.json")
        default = cls()

        def sampling(prefix: str, do_sample: str, fallback: Sampling) -> Sampling:
            return Sampling(
                greedy=config.get(do_sample) is False,
                temperature=read.number(f"{prefix}temperature", fallback.temperature),
                top_k=int(read.number(f"{prefix}top_k", fallback.top_k)),
                top_p=read.number(f"{prefix}top_p", fallback.top_p),
            )

        return cls(
            talker=sampling("", "do_sample", default.talker),
            predictor=sampling("subtalker_", "subtalker_dosample", default.predictor),
            repetition_penalty=read.number("repetition_penalty", default.repetition_penalty),
            max_new_tokens=int(read.number("max_new_tokens", default.max_new_tokens)),
        )


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole model."""

    kind: Kind
    size: str
    """"0b6" or "1b7"."""
    talker: DecoderSpec
    predictor: DecoderSpec
    groups: int
    """Codes in a frame."""
    text_vocabulary: int
    text_hidden: int
    ids: ControlIds
    languages: Mapping[str, int]
    """Codec id by lower-case name, dialects included."""
    speakers: Mapping[str, int]
    """Codec id by lower-case name; empty unless CUSTOM_VOICE."""
    dialects: Mapping[str, str]
    """Speaker to the dialect spoken when the language is Chinese or not given."""
    generation: Generation = field(default_factory=Generation)

    @property
    def codes(self) -> int:
        """Entries of one codebook."""
        return self.predictor.vocabulary

    @property
    def projected(self) -> bool:
        """The predictor is narrower than the talker, so its inputs go through a projection."""
        return self.talker.hidden != self.predictor.hidden

    @property
    def takes_instruction(self) -> bool:
        """The official package drops the instruction for 0.6B models and clones."""
        return self.kind is not Kind.BASE and self.size != "0b6"

    @classmethod
    def from_config(cls, config: Config, generation: Config | None = None) -> Spec:
        """From the content of config.json and of generation_config.json.

        Raises SpecError when a field is missing or the model is of another family.
        """
        if config.get("model_type") != "qwen3_tts":
            raise SpecError(
                f"config.json: model_type is {config.get('model_type')!r}, not qwen3_tts"
            )
        if config.get("tokenizer_type") != "qwen3_tts_tokenizer_12hz":
            raise SpecError(
                f"config.json: tokenizer_type is {config.get('tokenizer_type')!r}; "
                "only the 12 Hz models are supported"
            )
        read = _Reader(config, "config.json")
        talker = read.section("talker_config")
        inner = _Reader(talker, "talker_config")
        spec = cls(
            kind=_kind(config.get("tts_model_type")),
            size=str(config.get("tts_model_size")),
            talker=DecoderSpec.from_config(talker, "talker_config"),
            predictor=DecoderSpec.from_config(
                inner.section("code_predictor_config"), "code_predictor_config"
            ),
            groups=inner.integer("num_code_groups"),
            text_vocabulary=inner.integer("text_vocab_size"),
            text_hidden=inner.integer("text_hidden_size"),
            ids=ControlIds(
                pad=inner.integer("codec_pad_id"),
                bos=inner.integer("codec_bos_id"),
                eos=inner.integer("codec_eos_token_id"),
                think=inner.integer("codec_think_id"),
                nothink=inner.integer("codec_nothink_id"),
                think_bos=inner.integer("codec_think_bos_id"),
                think_eos=inner.integer("codec_think_eos_id"),
                text_pad=read.integer("tts_pad_token_id"),
                text_bos=read.integer("tts_bos_token_id"),
                text_eos=read.integer("tts_eos_token_id"),
            ),
            languages=inner.ids("codec_language_id"),
            speakers=inner.ids("spk_id"),
            dialects=_dialects(talker.get("spk_is_dialect")),
            generation=Generation.from_config(generation or {}),
        )
        if spec.talker.vocabulary - CONTROL_IDS != spec.codes:
            raise SpecError(
                f"config.json: a codec vocabulary of {spec.talker.vocabulary} does not hold "
                f"{spec.codes} codes and {CONTROL_IDS} control ids"
            )
        return spec


def read_spec(folder: Path) -> Spec:
    """The spec of a checkpoint folder in the official layout.

    Raises SpecError when config.json is missing, unreadable or of another model.
    """
    generation = folder / "generation_config.json"
    return Spec.from_config(
        read_json(folder / "config.json"), read_json(generation) if generation.is_file() else None
    )


def read_json(path: Path) -> Config:
    """A JSON object from a file. Raises SpecError when there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError(f"{path} is missing: not a checkpoint in the official layout") from None
    except (OSError, ValueError) as error:
        raise SpecError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise SpecError(f"{path} holds no JSON object")
    return content


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed access to one JSON object; errors say where."""

    config: Config
    where: str

    def section(self, key: str) -> Config:
        value = self.config.get(key)
        if not isinstance(value, dict):
            raise SpecError(f"{self.where}: section {key} is missing")
        return cast(Config, value)

    def integer(self, key: str) -> int:
        value = self.config.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise SpecError(f"{self.where}: {key} must be a whole number, got {value!r}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self.config.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise SpecError(f"{self.where}: {key} must be a number, got {value!r}")
        return float(value)

    def ids(self, key: str) -> dict[str, int]:
        """Names to ids. Some published conversions hold an id as a list of one: both are read."""
        found: dict[str, int] = {}
        for name, value in (self.config.get(key) or {}).items():  # type: ignore[union-attr]
            one = value[0] if isinstance(value, list) and len(value) == 1 else value
            if not isinstance(one, int):
                raise SpecError(f"{self.where}: {key} of {name} must be a number, got {value!r}")
            found[str(name).lower()] = one
        return found


def _kind(name: object) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        known = ", ".join(kind.value for kind in Kind)
        raise SpecError(f"config.json: tts_model_type is {name!r}; known: {known}") from None


def _dialects(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(name).lower(): dialect for name, dialect in value.items() if dialect}
