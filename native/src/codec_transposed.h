/* Transposed convolutions of two taps by Winograd tiles: F(4, 2), five products for four steps of the
 * input instead of eight. Tiles do not reach over the end of a frame, whose steps are a multiple of
 * four (docs/decisions/qwen3-codec-tiles.md). */
#ifndef S2S_CODEC_TRANSPOSED_H
#define S2S_CODEC_TRANSPOSED_H

#include <stddef.h>

#include "level.h"
#include "codec_layers.h"

/* TRANSPOSED_MATRICES: of a convolution, [in][out] each, as if it had so many taps: the taps as a
 * polynomial, the older one first, at the points 0, 1, -1 and 2, divided by the product of the point's
 * distances to the others, 2, -2, -6 and 6, and at infinity: the newer tap. */
enum { TRANSPOSED_MATRICES = 5, TRANSPOSED_STEPS = 4 };

/* How many matrices the weights of a block are packed in, whose input has so many steps a frame: the
 * first block has too few to make up for reading more weights. */
static inline int transposed_matrices(int block, int steps)
{
    return block == 0 || steps % TRANSPOSED_STEPS ? 2 : TRANSPOSED_MATRICES;
}

/* Floats of the planes for so many steps, or NO_SIZE; and of a thread's scratch. */
size_t transposed_floats(size_t steps, size_t width);
size_t transposed_scratch(size_t width);

/* Two phases: out [steps][weights->out] = the convolution of `in` [steps][weights->in], behind
 * `activation`. history, next_history: the step before, behind it. planes: working memory. */
void convolve_transposed(
    Worker *worker, const PackedWeights *weights, const Snake *activation, const float *in,
    int steps, const float *history, float *next_history, float *planes, float *out);

#endif
