"""What a converted checkpoint was made from and with, and whether it is still that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from s2s.core.untyped import is_object
from s2s.system.intact import damaged, is_sealed
from s2s.tts.qwen3.checkpoint.gguf_layout import FORMAT
from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec, read_spec
from s2s.tts.qwen3.errors import CheckpointError, SpecError

RECORD_FILE = "converted.json"


@dataclass(frozen=True, slots=True)
class Record:
    """What a converted folder was made from and with."""

    source: str
    """Content hash of the official checkpoint."""
    name: str
    origin: str
    """Its hub id; "" for a folder."""
    quant: str
    predictor_quant: str
    format: int = FORMAT
    graphs: int = 0
    """Version of its graphs; 0 when it has none."""
    spec: Mapping[str, object] = field(default_factory=dict[str, object], compare=False)
    """What of config.json is in the weights, by field; empty in older folders."""


def check_converted(folder: Path, record: Record) -> None:
    """Raise CheckpointError when a file of a converted checkpoint is not what was made, and
    SpecError when its config.json contradicts what the weights were made with."""
    # Older folders have no list of digests; graphs are not opened without: a damaged one can end
    # the process inside ONNX Runtime: docs/decisions/qwen3-sealed-folders.md.
    bad = damaged(folder) if is_sealed(folder) or record.graphs else None
    if bad is not None:
        raise CheckpointError(
            "is not what the conversion made",
            file=folder / bad,
            advice="give the official checkpoint, and it is converted again",
        )
    now = weights_of(read_spec(folder))
    for name, was in record.spec.items():
        if name in now and now[name] != was:
            raise SpecError(
                f"is {now[name]!r:.80}, but the weights were made with {was!r:.80}",
                file=folder / "config.json",
                field=name,
                advice="undo the edit, or convert the official checkpoint again",
            )


def weights_of(spec: Spec) -> dict[str, object]:
    """What of a config is in the weights, by the config's own field names."""
    predictor = "talker_config.code_predictor_config"
    return {
        **_decoder_of(spec.talker, "talker_config"),
        **_decoder_of(spec.predictor, predictor),
        "talker_config.num_code_groups": spec.groups,
        "talker_config.text_vocab_size": spec.text_vocabulary,
        "talker_config.text_hidden_size": spec.text_hidden,
        "talker_config.codec_eos_token_id": spec.ids.eos,
    }


def _decoder_of(spec: DecoderSpec, part: str) -> dict[str, object]:
    named = {
        "hidden_size": spec.hidden,
        "intermediate_size": spec.intermediate,
        "num_hidden_layers": spec.layers,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "head_dim": spec.head_dim,
        "vocab_size": spec.vocabulary,
        "rms_norm_eps": spec.rms_norm_eps,
        "rope_theta": spec.rope_theta,
        "max_position_embeddings": spec.max_positions,
    }
    return {f"{part}.{name}": value for name, value in named.items()}


def begun_as(path: Path) -> object:
    """What a folder was being made for; None where that cannot be told."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def read_record(folder: Path) -> Record | None:
    """What a folder was converted from; None when it is not a converted checkpoint."""
    try:
        record = Record(**json.loads((folder / RECORD_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    # A damaged file may hold anything.
    said = (record.source, record.name, record.origin, record.quant, record.predictor_quant)
    texts: list[object] = list(said)
    if not all(isinstance(text, str) for text in texts) or not is_object(record.spec):
        return None
    return record
