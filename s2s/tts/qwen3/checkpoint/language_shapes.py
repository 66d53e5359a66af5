"""Every tensor of a language model by name, and its shape, as official checkpoints have them."""

from __future__ import annotations

from s2s.tts.qwen3.checkpoint.spec import DecoderSpec, Spec


def language_model_shapes(spec: Spec) -> dict[str, tuple[int, ...]]:
    """Every tensor of talker, text front end and code predictor, with its shape."""
    hidden, small = spec.talker.hidden, spec.predictor.hidden
    inner = spec.text_hidden
    predictor = "talker.code_predictor"
    shapes: dict[str, tuple[int, ...]] = {
        "talker.model.text_embedding.weight": (spec.text_vocabulary, inner),
        "talker.model.codec_embedding.weight": (spec.talker.vocabulary, hidden),
        "talker.codec_head.weight": (spec.talker.vocabulary, hidden),
        "talker.text_projection.linear_fc1.weight": (inner, inner),
        "talker.text_projection.linear_fc1.bias": (inner,),
        "talker.text_projection.linear_fc2.weight": (hidden, inner),
        "talker.text_projection.linear_fc2.bias": (hidden,),
    }
    shapes |= _decoder_shapes("talker.model", spec.talker)
    shapes |= _decoder_shapes(f"{predictor}.model", spec.predictor)
    for group in range(spec.groups - 1):
        shapes[f"{predictor}.model.codec_embedding.{group}.weight"] = (spec.codes, hidden)
        shapes[f"{predictor}.lm_head.{group}.weight"] = (spec.codes, small)
    if spec.projected:
        shapes[f"{predictor}.small_to_mtp_projection.weight"] = (small, hidden)
        shapes[f"{predictor}.small_to_mtp_projection.bias"] = (small,)
    return shapes


def _decoder_shapes(prefix: str, spec: DecoderSpec) -> dict[str, tuple[int, ...]]:
    query, key = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    layer: dict[str, tuple[int, ...]] = {
        "input_layernorm": (spec.hidden,),
        "post_attention_layernorm": (spec.hidden,),
        "self_attn.q_proj": (query, spec.hidden),
        "self_attn.k_proj": (key, spec.hidden),
        "self_attn.v_proj": (key, spec.hidden),
        "self_attn.o_proj": (spec.hidden, query),
        "self_attn.q_norm": (spec.head_dim,),
        "self_attn.k_norm": (spec.head_dim,),
        "mlp.gate_proj": (spec.intermediate, spec.hidden),
        "mlp.up_proj": (spec.intermediate, spec.hidden),
        "mlp.down_proj": (spec.hidden, spec.intermediate),
    }
    shapes = {
        f"{prefix}.layers.{at}.{name}.weight": shape
        for at in range(spec.layers)
        for name, shape in layer.items()
    }
    return shapes | {f"{prefix}.norm.weight": (spec.hidden,)}
