"""Every tensor of a speech tokenizer that is computed with, by name, and its shape.

A file is held against this before anything is made of it: what its config asks for is then no
larger than the file. Names: `CodecDecoderSpec` and `CodecEncoderSpec` as the published
``speech_tokenizer/model.safetensors`` has them.
"""

from __future__ import annotations

from s2s.tts.qwen3.checkpoint.codec_spec import CodecDecoderSpec, CodecEncoderSpec

Shapes = dict[str, tuple[int, ...]]

_KERNEL = 7
_RESIDUAL_UNITS = (2, 3, 4)


def decoder_shapes(spec: CodecDecoderSpec) -> Shapes:
    """What turns codes into sound."""
    shapes = _codebooks(spec) | _transformer(spec)
    latent = spec.latent_dim
    for at, factor in enumerate(spec.upsampling_ratios):
        name = f"decoder.upsample.{at}"
        shapes |= {
            f"{name}.0.conv.weight": (latent, latent, factor),
            f"{name}.0.conv.bias": (latent,),
            f"{name}.1.dwconv.conv.weight": (latent, 1, _KERNEL),
            f"{name}.1.dwconv.conv.bias": (latent,),
            f"{name}.1.norm.weight": (latent,),
            f"{name}.1.norm.bias": (latent,),
            f"{name}.1.gamma": (latent,),
        }
        shapes |= _linear(f"{name}.1.pwconv1", 4 * latent, latent)
        shapes |= _linear(f"{name}.1.pwconv2", latent, 4 * latent)
    return shapes | _upsampler(spec)


def _codebooks(spec: CodecDecoderSpec) -> Shapes:
    width = spec.codebook_dim // 2
    shapes: Shapes = {}
    for part, codebooks in (("first", 1), ("rest", spec.code_groups - 1)):
        name = f"decoder.quantizer.rvq_{part}"
        shapes[f"{name}.output_proj.weight"] = (spec.codebook_dim, width, 1)
        for at in range(codebooks):
            book = f"{name}.vq.layers.{at}._codebook"
            shapes[f"{book}.embedding_sum"] = (spec.codebook_size, width)
            shapes[f"{book}.cluster_usage"] = (spec.codebook_size,)
    return shapes


def _transformer(spec: CodecDecoderSpec) -> Shapes:
    hidden, inner, latent = spec.hidden_size, spec.intermediate_size, spec.latent_dim
    query, key = spec.heads * spec.head_dim, spec.key_value_heads * spec.head_dim
    prefix = "decoder.pre_transformer"
    shapes = _conv("decoder.pre_conv.conv", latent, spec.codebook_dim, 3)
    shapes |= _linear(f"{prefix}.input_proj", hidden, latent)
    shapes |= _linear(f"{prefix}.output_proj", latent, hidden)
    shapes[f"{prefix}.norm.weight"] = (hidden,)
    for at in range(spec.layers):
        name = f"{prefix}.layers.{at}"
        shapes |= {
            f"{name}.input_layernorm.weight": (hidden,),
            f"{name}.post_attention_layernorm.weight": (hidden,),
            f"{name}.self_attn.q_proj.weight": (query, hidden),
            f"{name}.self_attn.k_proj.weight": (key, hidden),
            f"{name}.self_attn.v_proj.weight": (key, hidden),
            f"{name}.self_attn.o_proj.weight": (hidden, query),
            f"{name}.self_attn_layer_scale.scale": (hidden,),
            f"{name}.mlp.gate_proj.weight": (inner, hidden),
            f"{name}.mlp.up_proj.weight": (inner, hidden),
            f"{name}.mlp.down_proj.weight": (hidden, inner),
            f"{name}.mlp_layer_scale.scale": (hidden,),
        }
    return shapes


def _upsampler(spec: CodecDecoderSpec) -> Shapes:
    width = spec.decoder_dim
    shapes = _conv("decoder.decoder.0.conv", width, spec.latent_dim, _KERNEL)
    for at, rate in enumerate(spec.upsample_rates, start=1):
        name = f"decoder.decoder.{at}.block"
        shapes |= _snake(f"{name}.0", width)
        shapes[f"{name}.1.conv.weight"] = (width, width // 2, 2 * rate)
        width //= 2
        shapes[f"{name}.1.conv.bias"] = (width,)
        for unit in _RESIDUAL_UNITS:
            shapes |= _snake(f"{name}.{unit}.act1", width)
            shapes |= _snake(f"{name}.{unit}.act2", width)
            shapes |= _conv(f"{name}.{unit}.conv1.conv", width, width, _KERNEL)
            shapes |= _conv(f"{name}.{unit}.conv2.conv", width, width, 1)
    last = len(spec.upsample_rates) + 1
    return (
        shapes
        | _snake(f"decoder.decoder.{last}", width)
        | _conv(f"decoder.decoder.{last + 1}.conv", 1, width, _KERNEL)
    )


def encoder_shapes(spec: CodecEncoderSpec) -> Shapes:
    """What turns a recording into codes."""
    hidden, width, layer = spec.hidden_size, spec.num_filters, 1
    shapes = _conv("encoder.encoder.layers.0.conv", width, 1, spec.kernel_size)
    for ratio in spec.ratios:
        for _ in range(spec.residual_layers):
            name, inner = f"encoder.encoder.layers.{layer}.block", width // spec.compress
            shapes |= _conv(f"{name}.1.conv", inner, width, spec.residual_kernel_size)
            shapes |= _conv(f"{name}.3.conv", width, inner, 1)
            layer += 1
        name = f"encoder.encoder.layers.{layer + 1}.conv"
        shapes |= _conv(name, 2 * width, width, 2 * ratio)
        layer, width = layer + 2, 2 * width
    name = f"encoder.encoder.layers.{layer + 1}.conv"
    shapes |= _conv(name, hidden, width, spec.last_kernel_size)
    shapes["encoder.downsample.conv.weight"] = (hidden, hidden, 2 * spec.downsample)
    return shapes | _encoder_transformer(spec) | _encoder_codebooks(spec)


def _encoder_transformer(spec: CodecEncoderSpec) -> Shapes:
    hidden, inner = spec.hidden_size, spec.intermediate_size
    query, key = spec.heads * spec.head_dim, spec.key_value_heads * spec.head_dim
    shapes: Shapes = {}
    for at in range(spec.layers):
        name = f"encoder.encoder_transformer.layers.{at}"
        for norm in ("input_layernorm", "post_attention_layernorm"):
            shapes |= {f"{name}.{norm}.weight": (hidden,), f"{name}.{norm}.bias": (hidden,)}
        shapes |= {
            f"{name}.self_attn.q_proj.weight": (query, hidden),
            f"{name}.self_attn.k_proj.weight": (key, hidden),
            f"{name}.self_attn.v_proj.weight": (key, hidden),
            f"{name}.self_attn.o_proj.weight": (hidden, query),
            f"{name}.self_attn_layer_scale.scale": (hidden,),
            f"{name}.mlp.fc1.weight": (inner, hidden),
            f"{name}.mlp.fc2.weight": (hidden, inner),
            f"{name}.mlp_layer_scale.scale": (hidden,),
        }
    return shapes


def _encoder_codebooks(spec: CodecEncoderSpec) -> Shapes:
    shapes: Shapes = {}
    acoustic = spec.code_groups - spec.semantic_groups
    for part, codebooks in (("semantic", spec.semantic_groups), ("acoustic", acoustic)):
        name = f"encoder.quantizer.{part}_residual_vector_quantizer"
        shapes[f"{name}.input_proj.weight"] = (spec.codebook_dim, spec.hidden_size, 1)
        for at in range(codebooks):
            book = f"{name}.layers.{at}.codebook"
            shapes[f"{book}.embed_sum"] = (spec.codebook_size, spec.codebook_dim)
            shapes[f"{book}.cluster_usage"] = (spec.codebook_size,)
    return shapes


def _linear(name: str, out: int, into: int) -> Shapes:
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def _conv(name: str, out: int, into: int, kernel: int) -> Shapes:
    return {f"{name}.weight": (out, into, kernel), f"{name}.bias": (out,)}


def _snake(name: str, width: int) -> Shapes:
    return {f"{name}.alpha": (width,), f"{name}.beta": (width,)}
