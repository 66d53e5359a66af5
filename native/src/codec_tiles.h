/* Causal convolutions of kernel 7 by Winograd tiles (Lavin and Gray, arXiv 1509.09308), for the layers
 * of the codec decoder.
 *
 * A tile is up to four steps, `dilation` apart. Taps 0 to 3 and taps 4 to 6 are polynomials of degree
 * three; each is multiplied with the steps it sees at the points 0, 1, -1, 2, -2, 1/2 and infinity (the
 * latter is nothing for the second): 13 products for four steps instead of 28. What the taps from 4 on
 * see of a tile is what those in front see of the next, so that it is transformed once.
 *
 * Every frame is cut into tiles by itself, so that no value depends on how the frames are split into
 * calls: a step of a tile depends on all of them but for its rounding. Of each phase, the steps
 * `dilation` apart, what does not fill a tile of four goes into one of three, two or one: these take
 * some of the points, 11, 9 and 7 products. docs/decisions/qwen3-codec-tiles.md */
#ifndef S2S_CODEC_TILES_H
#define S2S_CODEC_TILES_H

#include <stddef.h>

#include "level.h"
#include "codec_layers.h"

/* WINOGRAD_MATRICES: of a convolution, [in][out] each, as if it had so many taps: the two polynomials
 * at each point, divided by the product of the point's distances to the others, -2, -3, 9, 36, -60 and
 * 45/32 (infinity: tap 3 itself): seven of taps 0 to 3, six of taps 4 to 6. */
enum { KERNEL = 7, TILE_KINDS = 4, WINOGRAD_MATRICES = 13 };

/* A convolution of frames of `rows` steps, in [frames * rows][width], behind `activation`; history: the
 * 6 * dilation steps before, which are behind it. tiles, from, planes: tiles_place. */
typedef struct {
    int dilation, width, rows, frames;
    const float *history, *in;
    const Snake *activation;
    int tiles[TILE_KINDS], from[TILE_KINDS];
    float *planes[TILE_KINDS];
} Tiles;

/* Floats of the planes for `rows` steps in all, or NO_SIZE; and of a thread's scratch. */
size_t tiles_floats(size_t rows, int frames, size_t dilation, size_t width);
size_t tiles_scratch(size_t width);

void tiles_place(Tiles *tiles, float *planes);

/* A phase: what is multiplied, into the planes. */
void tiles_read(Worker *worker, const Tiles *tiles);

/* This thread's share of the newest steps of the input into `saved`, which may be where the history
 * lies. Between tiles_read and tiles_multiply. */
void tiles_save_history(const Worker *worker, const Tiles *tiles, float *saved);

/* A phase: out [frames * rows][weights->out] = the convolution, through `activation`. */
void tiles_multiply(
    Worker *worker, const Tiles *tiles, const PackedWeights *weights, const Snake *activation,
    float *out);

#endif
