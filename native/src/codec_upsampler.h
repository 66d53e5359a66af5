/* The upsampling decoder of the Qwen3-TTS codec: latent steps of many channels to samples.
 *
 * Values lie time first, [steps][width], and every width is padded with zeros to a multiple
 * of CODEC_PAD, so that a causal convolution is a sum of products of one buffer at shifted rows.
 *
 * A convolution of kernel 7 is computed for two steps t and t + d at once (d its dilation), a
 * Winograd tile: taps 0 to 2 and 4 to 6 by the minimal filtering F(2, 3), which needs four products
 * instead of six, and tap 3 directly: 10 products instead of 14 (Lavin and Gray, arXiv 1509.09308).
 *
 * Architecture: Qwen3TTSTokenizerV2Decoder of qwen-tts 0.1.1. */
#ifndef S2S_CODEC_UPSAMPLER_H
#define S2S_CODEC_UPSAMPLER_H

#include "level.h"
#include "codec_layers.h"
#include "thread_pool.h"

enum { RESIDUAL_UNITS = 3, WINOGRAD_MATRICES = 9 };

/* snake_in, a dilated convolution of kernel 7, snake_middle, and a 1x1 convolution (pointwise).
 *
 * winograd: the nine matrices [in][out] of the convolution, as if of nine taps: for the sums
 * d0 - d2, d1 + d2, d2 - d1 and d3 - d1 of the four steps d that a tile sees of three taps,
 *     w0 w4 w3 | (w0+w1+w2)/2 (w4+w5+w6)/2 | (w0-w1+w2)/2 (w4-w5+w6)/2 | w2 w6  */
typedef struct {
    int dilation;
    Snake snake_in;
    PackedWeights winograd;
    Snake snake_middle;
    PackedWeights pointwise;
} ResidualUnit;

/* snake_in, a transposed convolution of kernel 2 * stride as a matrix from two steps to `stride`
 * steps of units[0].winograd.in channels, then three residual units. */
typedef struct {
    int stride;
    Snake snake_in;
    PackedWeights transposed;
    ResidualUnit units[RESIDUAL_UNITS];
} Block;

/* `input` is the convolution in front of the blocks, output [7][width] with output_bias the one to
 * a single channel, behind snake_out. A frame is `steps` steps of the input. The `batched_blocks`
 * first blocks see all frames of a call at once, so that their weights are read once; the others
 * one frame at a time, so that their activations stay in cache. */
typedef struct {
    int steps, blocks, batched_blocks, frames;
    PackedWeights input;
    const Block *block;
    Snake snake_out;
    const float *output, *output_bias;
} CodecUpsamplerShape;

typedef struct CodecUpsampler CodecUpsampler;

/* All that `shape` points to must outlive it; every width is a multiple of CODEC_PAD. NULL: no memory,
 * or weights that do not fit together. */
S2S_API CodecUpsampler *codec_upsampler_new(const CodecUpsamplerShape *shape, ThreadPool *pool);
S2S_API void codec_upsampler_free(CodecUpsampler *upsampler);

/* The samples of the next `frames` frames, at most shape->frames: float [frames * samples a frame].
 *
 * in: float [frames * steps][input.in]. position: frames that came earlier in the stream. state,
 * next_state: the streaming state: the newest input steps of each convolution, in the order of the
 * layers: input; of each block the transposed convolution and three units; output. `next_state` is
 * written whole, `state` is only read.
 *
 * `stale` is asked between blocks, by the caller's thread, and may be NULL: once it is true the run
 * is cancelled. Returns 0, 1 for a cancelled run, -1 for more frames than it takes or none, or
 * FORKED; `next_state` and `out` are undefined then. */
S2S_API int codec_upsampler_run(
    CodecUpsampler *upsampler, const float *in, int frames, long long position, float *const *state,
    float *const *next_state, float *out, int (*stale)(void));

#endif
