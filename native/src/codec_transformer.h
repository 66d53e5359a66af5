/* The pre-transformer of the Qwen3-TTS codec decoder: code vectors to the latent steps from which
 * the upsampling decoder makes samples.
 *
 * A transformer with sliding-window attention (rotary positions by halves, gated feed-forward),
 * then upsampling ConvNeXt blocks. Weights of norms and layer scales are folded into the matrices,
 * as is the scale of the attention scores.
 *
 * Architecture: Qwen3TTSTokenizerV2Decoder of qwen-tts 0.1.1. */
#ifndef S2S_CODEC_TRANSFORMER_H
#define S2S_CODEC_TRANSFORMER_H

#include "level.h"
#include "codec_layers.h"
#include "thread_pool.h"

typedef struct { PackedWeights query_key_value, out, gate_up, down; } CodecTransformerLayer;

/* A transposed convolution whose kernel is its stride, then a ConvNeXt block: a depthwise
 * convolution [7][width] with its bias, a norm, and the pointwise convolutions up and down. */
typedef struct {
    PackedWeights transposed;
    const float *depthwise, *depthwise_bias;
    PackedWeights up, down;
} Upsample;

/* frequencies: [head_dim / 2]; epsilon: of the transformer's norms, step_epsilon: of the others.
 * A call takes at most `frames` frames. */
typedef struct {
    int layers, heads, head_dim, window, upsamples, frames;
    float epsilon, step_epsilon;
    const float *frequencies;
    PackedWeights input;
    const CodecTransformerLayer *layer;
    const Upsample *upsample;
} CodecTransformerShape;

typedef struct CodecTransformer CodecTransformer;

/* All that `shape` points to must outlive it; every width is a multiple of CODEC_PAD. NULL: no memory,
 * or weights that do not fit together. */
S2S_API CodecTransformer *codec_transformer_new(
    const CodecTransformerShape *shape, ThreadPool *pool);
S2S_API void codec_transformer_free(CodecTransformer *transformer);

/* The latent steps of the next `frames` frames: float [frames * steps a frame][width].
 *
 * in: float [frames][input.in], sums of code vectors. position: frames that came earlier in the
 * stream. state, next_state: the streaming state: the newest inputs; keys and values of each layer,
 * [heads][min(position, window - 1)][head_dim]; the newest steps of each upsampling. `next_state`
 * is written whole, `state` is only read. Returns 0, -1 for more frames than it takes or none, or
 * FORKED. */
S2S_API int codec_transformer_run(
    CodecTransformer *transformer, const float *in, int frames, long long position,
    float *const *state, float *const *next_state, float *out);

#endif
