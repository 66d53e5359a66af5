/* The narrow part of the Qwen3-TTS codec decoder: code vectors to the steps that become sound.
 *
 * A transformer with a window (rotary positions by halves, gated feed-forward), then upsampling
 * ConvNeXt blocks. Weights of norms and layer scales are in the matrices, as is the scale of the
 * scores.
 *
 * Architecture: Qwen3TTSTokenizerV2Decoder of qwen-tts 0.1.1. */
#ifndef S2S_CODEC_LATENT_H
#define S2S_CODEC_LATENT_H

#include "codec_layers.h"
#include "thread_pool.h"

typedef struct { Product query_key_value, out, gate_up, down; } LatentLayer;

/* spread: one step to some of `width` channels; taps [7][width] with taps_bias: a convolution of
 * each channel by itself. */
typedef struct {
    Product spread;
    const float *taps, *taps_bias;
    Product up, down;
} Upsample;

/* frequencies: [head_dim / 2]; epsilon: of the transformer's norms, step_epsilon: of the others.
 * A call takes at most `frames` frames. */
typedef struct {
    int layers, heads, head_dim, window, upsamples, frames;
    float epsilon, step_epsilon;
    const float *frequencies;
    Product input;
    const LatentLayer *layer;
    const Upsample *upsample;
} LatentShape;

typedef struct Latent Latent;

/* All that `shape` points to stays where it is. NULL: no memory. */
Latent *latent_new(const LatentShape *shape, Team *team);
void latent_free(Latent *latent);

/* The steps of the next `frames` frames: float [frames * steps a frame][width].
 *
 * in: float [frames][input.in], sums of code vectors. before: frames that came earlier in the
 * stream. past, next: what is remembered: the newest inputs; keys and values of each layer,
 * [heads][as many as there were, at most window - 1][head_dim]; of each upsampling its newest
 * steps. All in `next` is written, all in `past` only read. */
void latent_run(
    Latent *latent, const float *in, int frames, long long before, float *const *past,
    float *const *next, float *out);

#endif
