/* Attention of one query, for the talker, the code predictor and the codec. */
#ifndef S2S_ATTENTION_H
#define S2S_ATTENTION_H

#include <stddef.h>

#include "level.h"
#include "simd.h"

/* Rows of keys or values, `stride` values apart. */
typedef struct { const void *first; ptrdiff_t stride; } HeadRows;

/* So many rows of keys and as many of values. */
typedef struct { HeadRows keys, values; int rows; } Stretch;

/* out float [width] = the values, weighted by the softmax of scale * query times key, over all rows
 * of the `count` stretches, which are of the cache's type `stored` or of floats. width: a multiple
 * of TILE. weights: float [rows of all], working memory. At least one row is needed. */
typedef struct {
    const Stretch *stretches;
    int count, width;
    float scale;
} Context;

void attend_stored(const Context *context, const float *query, float *weights, float *out);
void attend_floats(const Context *context, const float *query, float *weights, float *out);

#endif
