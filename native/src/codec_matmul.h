/* Matrix products of many rows, in single precision. */
#ifndef S2S_CODEC_MATMUL_H
#define S2S_CODEC_MATMUL_H

#include <stddef.h>

#include "level.h"
#include "simd.h"

/* A product works on rows of PANEL columns in registers. */
enum { PANEL = 48, VECTORS = PANEL / LANES };

/* sums [rows][PANEL] += rows of `a` [rows][depth], `stride` apart, times `panel` [depth][PANEL].
 * `fresh`: the sums begin at zero. Each sum is taken in one order, however many rows there are.
 * The memory behind the panel is prefetched meanwhile: the next panel should lie there. */
void add_product_rows(
    const float *a, ptrdiff_t stride, int rows, const float *panel, int depth, float *sums,
    int fresh);

#endif
