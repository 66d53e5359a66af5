/* The wide part of the Qwen3-TTS codec decoder: steps of many channels to samples.
 *
 * Values lie time first, [steps][width], and every width is a multiple of CODEC_PAD with zeros in
 * what is added, so that a causal convolution is a sum of products of one buffer at shifted rows.
 *
 * A convolution of kernel 7 is computed for two steps t and t + d at once (d its dilation): taps 0
 * to 2 and 4 to 6 by the minimal filtering of Winograd, F(2, 3), which needs four products where
 * six stand, and tap 3 as it is: 10 products instead of 14.
 *
 * Architecture: Qwen3TTSTokenizerV2Decoder of qwen-tts 0.1.1. */
#ifndef S2S_CODEC_H
#define S2S_CODEC_H

#include "codec_layers.h"
#include "thread_pool.h"

enum { CODEC_UNITS = 3, CODEC_PAIR_MATRICES = 9 };

/* pairs: the nine matrices [in][out] of a convolution, as a Product of nine taps: for the sums
 * d0 - d2, d1 + d2, d2 - d1 and d3 - d1 of the four steps d that a pair sees of three taps,
 *     w0 w4 w3 | (w0+w1+w2)/2 (w4+w5+w6)/2 | (w0-w1+w2)/2 (w4-w5+w6)/2 | w2 w6  */
typedef struct {
    int dilation;
    Waves before;
    Product pairs;
    Waves between;
    Product mix;
} Unit;

/* A transposed convolution of kernel 2 * rate as a matrix from two steps to `rate` steps of
 * units[0].pairs.in channels, then three residual units. */
typedef struct {
    int rate;
    Waves before;
    Product spread;
    Unit units[CODEC_UNITS];
} Block;

/* `first` is the convolution in front of the blocks, last [7][width] with last_bias the one to a
 * single channel. A frame is `steps` steps for the first. The first `wide` blocks see all frames of
 * a call at once, so that their weights are read once; the others one frame at a time, so that
 * their activations stay in cache. */
typedef struct {
    int steps, blocks, wide, frames;
    Product first;
    const Block *block;
    Waves waves;
    const float *last, *last_bias;
} CodecShape;

typedef struct Codec Codec;

/* All that `shape` points to stays where it is. NULL: no memory. */
Codec *codec_new(const CodecShape *shape, Team *team);
void codec_free(Codec *codec);

/* The samples of the next `frames` frames, at most shape->frames: float [frames * samples a frame].
 *
 * in: float [frames * steps][first.in]. before: frames that came earlier in the stream. past, next:
 * the steps that each convolution remembers, in the order of the layers: first; of each block
 * spread and three units; last. All in `next` is written, all in `past` only read.
 *
 * `stale` is asked again and again, by the caller's thread, and may be NULL: once it is true the run
 * ends. Returns 0, or 1 for a run that ended so; `next` and `out` are of no use then. */
int codec_run(
    Codec *codec, const float *in, int frames, long long before, float *const *past,
    float *const *next, float *out, int (*stale)(void));

#endif
