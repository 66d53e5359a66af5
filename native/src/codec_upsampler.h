/* The upsampling decoder of the Qwen3-TTS codec: latent steps of many channels to samples.
 *
 * Values lie time first, [steps][width], and every width is padded with zeros to a multiple
 * of CODEC_PAD, so that a causal convolution is a sum of products of one buffer at shifted rows.
 * Those of kernel 7 are computed by Winograd tiles (codec_tiles.h).
 *
 * Architecture: Qwen3TTSTokenizerV2Decoder of qwen-tts 0.1.1. */
#ifndef S2S_CODEC_UPSAMPLER_H
#define S2S_CODEC_UPSAMPLER_H

#include "level.h"
#include "codec_layers.h"
#include "codec_tiles.h"
#include "thread_pool.h"

enum { RESIDUAL_UNITS = 3 };

/* snake_in, a dilated convolution of kernel 7 (its matrices: codec_tiles.h), snake_middle, and a 1x1
 * convolution (pointwise). */
typedef struct {
    int dilation;
    Snake snake_in;
    PackedWeights winograd;
    Snake snake_middle;
    PackedWeights pointwise;
} ResidualUnit;

/* snake_in, a transposed convolution of kernel 2 * stride as a matrix from two steps to `stride`
 * steps of units[0].winograd.in channels, of two taps or by tiles (codec_transposed.h), then three
 * residual units. */
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
