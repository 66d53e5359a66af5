"""What a Qwen3-TTS checkpoint is: every size, id and name, read from its own config files.

No dimension is a literal anywhere else. Field names follow config.json of the published
Qwen3-TTS-12Hz models; the reading is strict, so that another model says which field is amiss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from s2s.core.untyped import is_object
from s2s.tts.qwen3.checkpoint.affine import GROUP
from s2s.tts.qwen3.checkpoint.fields import Config, Fields, read_object
from s2s.tts.qwen3.errors import SpecError
from s2s.tts.qwen3.sampling import Sampling

# The most that is read: at least eight times what any published model has, small enough that no
# product of them overflows. Reasons: docs/decisions/qwen3-model-file-bounds.md.
MAX_LAYERS, MAX_HEADS, MAX_HEAD_DIM = 256, 256, 1024
MAX_WIDTH, MAX_INNER_WIDTH = 1 << 15, 1 << 17
MAX_VOCABULARY, MAX_CODES, MAX_GROUPS = 1 << 21, 1 << 15, 128
MAX_POSITIONS, MAX_NEW_TOKENS = 1 << 20, 1 << 16
EPSILONS, ROPE_THETAS = (1e-12, 1.0), (1.0, 1e12)
"""What float32 can compute with: below, a vector of zeros has a norm that is no number."""

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
    def from_config(cls, read: Fields) -> DecoderSpec:
        """From ``talker_config`` or its ``code_predictor_config``. Raises SpecError."""
        read.fixed("hidden_act", "silu")
        if read.config.get("attention_bias"):
            read.refuse("attention_bias", "is set: attention bias is not supported")
        if read.config.get("use_sliding_window"):
            read.refuse("use_sliding_window", "is set: sliding windows are not supported")
        read.fixed("partial_rotary_factor", 1)
        layers = read.whole("num_hidden_layers", 1, MAX_LAYERS)
        read.fixed("layer_types", ["full_attention"] * layers)
        heads, kv_heads, head_dim = head_counts(read)
        return cls(
            hidden=read.whole("hidden_size", 1, MAX_WIDTH),
            intermediate=read.whole("intermediate_size", 1, MAX_INNER_WIDTH),
            layers=layers,
            heads=heads,
            kv_heads=kv_heads,
            head_dim=head_dim,
            vocabulary=read.whole("vocab_size", 1, MAX_VOCABULARY),
            rms_norm_eps=read.number("rms_norm_eps", *EPSILONS),
            rope_theta=rope_theta(read),
            max_positions=read.whole("max_position_embeddings", 1, MAX_POSITIONS),
        )


def head_counts(read: Fields) -> tuple[int, int, int]:
    """Heads, key-value heads and the width of a head, which go together. Raises SpecError."""
    heads = read.whole("num_attention_heads", 1, MAX_HEADS)
    kv_heads = read.whole("num_key_value_heads", 1, MAX_HEADS)
    if heads % kv_heads:
        read.refuse("num_attention_heads", f"is {heads}: no multiple of {kv_heads} key-value heads")
    if read.has("head_dim"):
        head_dim = read.whole("head_dim", 2, MAX_HEAD_DIM)
    else:
        head_dim, rest = divmod(read.whole("hidden_size", 1, MAX_WIDTH), heads)
        if rest or head_dim > MAX_HEAD_DIM:
            read.refuse("hidden_size", f"does not divide into {heads} heads; head_dim is absent")
    if head_dim % 2:
        read.refuse("head_dim", f"is {head_dim}: positions turn pairs of values: it must be even")
    return heads, kv_heads, head_dim


def rope_theta(read: Fields) -> float:
    """The base of the rotary angles; every way to scale them is refused. The talker's three
    position streams are always equal, so how they interleave says nothing."""
    theta = read.number("rope_theta", *ROPE_THETAS) if read.has("rope_theta") else None
    for key in ("rope_scaling", "rope_parameters"):
        if not read.has(key):
            continue
        inside = read.section(key)
        for kind in ("rope_type", "type"):
            inside.fixed(kind, "default")
        for name in inside.config:
            if name not in _ROPE_FIELDS:
                inside.refuse(name, "is set: scaled positions are not supported")
        if inside.has("rope_theta"):
            inner = inside.number("rope_theta", *ROPE_THETAS)
            if theta not in (None, inner):
                inside.refuse("rope_theta", f"is {inner:g}, another field says {theta:g}")
            theta = inner
    return read.number("rope_theta", *ROPE_THETAS, theta)


_ROPE_FIELDS = {"rope_type", "type", "interleaved", "mrope_section", "rope_theta"}


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
    def from_config(cls, config: Config, file: str = "generation_config.json") -> Generation:
        """From generation_config.json; a field that is absent keeps its default.

        Raises SpecError.
        """
        read = Fields(config, file)
        default = cls()

        def sampling(prefix: str, do_sample: str, fallback: Sampling) -> Sampling:
            read.fixed(do_sample, True, False)
            return Sampling(
                greedy=config.get(do_sample) is False,
                temperature=read.number(f"{prefix}temperature", 1e-3, 1e3, fallback.temperature),
                top_k=int(read.number(f"{prefix}top_k", 0, MAX_VOCABULARY, fallback.top_k)),
                top_p=read.number(f"{prefix}top_p", 1e-6, 1, fallback.top_p),
            )

        return cls(
            talker=sampling("", "do_sample", default.talker),
            predictor=sampling("subtalker_", "subtalker_dosample", default.predictor),
            repetition_penalty=read.number(
                "repetition_penalty", 1e-3, 1e3, default.repetition_penalty
            ),
            max_new_tokens=int(
                read.number("max_new_tokens", 2, MAX_NEW_TOKENS, default.max_new_tokens)
            ),
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
    def from_config(
        cls, config: Config, generation: Config | None = None, folder: Path | None = None
    ) -> Spec:
        """From the content of config.json and of generation_config.json; folder: for errors.

        Raises SpecError when a field is missing or not what is computed here, or the model is of
        another family.
        """
        read = Fields(config, _file(folder, "config.json"))
        _check_family(read)
        inner = read.section("talker_config")
        small = inner.section("code_predictor_config")
        talker, predictor = DecoderSpec.from_config(inner), DecoderSpec.from_config(small)
        codes, vocabulary = predictor.vocabulary, talker.vocabulary
        if vocabulary - CONTROL_IDS != codes or codes > MAX_CODES:
            read.refuse(
                inner.name("vocab_size"),
                f"makes a codec vocabulary of {vocabulary}, which does not hold {codes} codes (at "
                f"most {MAX_CODES}) and {CONTROL_IDS} control ids",
            )
        groups = inner.whole("num_code_groups", 2, MAX_GROUPS)
        small.fixed("num_code_groups", groups)
        text_vocabulary = inner.whole("text_vocab_size", 1, MAX_VOCABULARY)
        languages = inner.ids("codec_language_id", vocabulary)
        return cls(
            kind=_kind(read),
            size=read.text("tts_model_size", "None"),
            talker=talker,
            predictor=predictor,
            groups=groups,
            text_vocabulary=text_vocabulary,
            text_hidden=inner.whole("text_hidden_size", 1, MAX_WIDTH),
            ids=_control_ids(read, inner, (codes, vocabulary, text_vocabulary)),
            languages=languages,
            speakers=inner.ids("spk_id", vocabulary),
            dialects=_dialects(inner, languages),
            generation=Generation.from_config(
                generation or {}, _file(folder, "generation_config.json")
            ),
        )


def read_spec(folder: Path) -> Spec:
    """The spec of a checkpoint folder in the official layout.

    Raises SpecError when config.json is missing, unreadable or of another model.
    """
    generation = folder / "generation_config.json"
    return Spec.from_config(
        read_json(folder / "config.json"),
        read_json(generation) if generation.is_file() else None,
        folder,
    )


def read_json(path: Path) -> Config:
    """A JSON object from a file. Raises SpecError when there is none."""
    return read_object(path, SpecError)


def _file(folder: Path | None, name: str) -> str:
    return name if folder is None else str(folder / name)


def _check_family(read: Fields) -> None:
    model, tokenizer = read.config.get("model_type"), read.config.get("tokenizer_type")
    if model != "qwen3_tts":
        read.refuse("model_type", f"is {model!r:.80}, not qwen3_tts", "give a Qwen3-TTS checkpoint")
    if tokenizer != "qwen3_tts_tokenizer_12hz":
        read.refuse(
            "tokenizer_type",
            f"is {tokenizer!r:.80}; only the 12 Hz models are supported",
            "take one of them",
        )
    for key in ("quantization_config", "quantization"):
        if read.has(key) and not _is_affine(read.config[key]):
            read.refuse(
                key,
                f"is set: of quantised weights only MLX's affine groups of {GROUP} are read",
                "give the original",
            )


def _is_affine(quantization: object) -> bool:
    """Weights are quantised as MLX does it if nothing else is said; with how many bits, their
    shapes say."""
    if not is_object(quantization):
        return False
    return (
        quantization.get("group_size") == GROUP and quantization.get("mode", "affine") == "affine"
    )


def _control_ids(read: Fields, inner: Fields, counts: tuple[int, int, int]) -> ControlIds:
    """counts: codes, the codec vocabulary, the text vocabulary."""
    codes, vocabulary, texts = counts

    def codec(key: str, least: int = 0) -> int:
        return inner.whole(key, least, vocabulary - 1)

    return ControlIds(
        pad=codec("codec_pad_id"),
        bos=codec("codec_bos_id"),
        eos=codec("codec_eos_token_id", codes),
        think=codec("codec_think_id"),
        nothink=codec("codec_nothink_id"),
        think_bos=codec("codec_think_bos_id"),
        think_eos=codec("codec_think_eos_id"),
        text_pad=read.whole("tts_pad_token_id", 0, texts - 1),
        text_bos=read.whole("tts_bos_token_id", 0, texts - 1),
        text_eos=read.whole("tts_eos_token_id", 0, texts - 1),
    )


def _kind(read: Fields) -> Kind:
    name = read.config.get("tts_model_type")
    for kind in Kind:
        if name == kind.value:
            return kind
    known = ", ".join(kind.value for kind in Kind)
    read.refuse("tts_model_type", f"is {name!r:.80}; known: {known}")


def _dialects(inner: Fields, languages: Mapping[str, int]) -> dict[str, str]:
    """Of the speakers that have one: the name of a language."""
    if not inner.has("spk_is_dialect"):
        return {}
    found: dict[str, str] = {}
    for name, dialect in inner.section("spk_is_dialect").config.items():
        if not dialect:
            continue
        if not isinstance(dialect, str) or dialect.lower() not in languages:
            inner.refuse("spk_is_dialect", f"of {name} is {dialect!r:.80}, no codec_language_id")
        found[str(name).lower()] = dialect.lower()
    return found
