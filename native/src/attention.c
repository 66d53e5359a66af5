#include "attention.h"

#include <math.h>

#include "arithmetic.h"

/* Sums that are held in registers at once: `strip` vectors of the output. */
enum { STRIP = 4 };

/* LANES values at `at` of rows of the cache's type, or of floats; `halved` is a constant wherever
 * this is inlined. */
INLINE floats values_at(const void *rows, ptrdiff_t at, const int halved)
{
    return halved ? widen((const stored *)rows + at) : load((const float *)rows + at);
}

/* scores [rows] = scale * query times key. Returns the larger of `most` and the largest of them. */
INLINE float score(
    const Stretch *stretch, const Context *context, const float *query, float *scores, float most,
    const int halved)
{
    ptrdiff_t key = 0;
    for (int row = 0; row < stretch->rows; row++, key += stretch->keys.stride) {
        floats sums[PARTS];
        for (int part = 0; part < PARTS; part++) sums[part] = all_floats(0);
        for (int in = 0; in < context->width; in += TILE) {
            UNROLLED
            for (int part = 0; part < PARTS; part++) {
                int at = in + part * LANES;
                sums[part] = add_product(
                    sums[part], load(query + at),
                    values_at(stretch->keys.first, key + at, halved));
            }
        }
        scores[row] = sum_of(sums) * context->scale;
        most = scores[row] > most ? scores[row] : most;
    }
    return most;
}

/* weights [rows], a row of scores, through softmax: sixteen sums, whose order is always the same. */
static void softmax(float *weights, int rows, float most)
{
    float sums[TILE] = { 0 }, total;
    floats parts[PARTS];
    for (int row = 0; row < rows; row++) weights[row] = exponential(weights[row] - most);
    for (int row = 0; row + TILE <= rows; row += TILE)
        for (int lane = 0; lane < TILE; lane++) sums[lane] += weights[row + lane];
    for (int row = rows / TILE * TILE; row < rows; row++) sums[row % TILE] += weights[row];
    for (int part = 0; part < PARTS; part++) parts[part] = load(sums + part * LANES);
    total = sum_of(parts);
    for (int row = 0; row < rows; row++) weights[row] /= total;
}

/* out [strip vectors] = weighted values, columns `in` and on; `strip` is a constant wherever this is
 * inlined. */
INLINE void weighted_sum(
    const Context *context, int in, const float *weights, float *out, const int strip,
    const int halved)
{
    floats sums[STRIP];
    for (int part = 0; part < strip; part++) sums[part] = all_floats(0);
    for (int at = 0; at < context->count; at++) {
        const Stretch *stretch = context->stretches + at;
        ptrdiff_t value = in;
        for (int row = 0; row < stretch->rows; row++, value += stretch->values.stride) {
            floats weight = all_floats(*weights++);
            UNROLLED
            for (int part = 0; part < strip; part++)
                sums[part] = add_product(
                    sums[part], weight,
                    values_at(stretch->values.first, value + part * LANES, halved));
        }
    }
    for (int part = 0; part < strip; part++) store(out + in + part * LANES, sums[part]);
}

INLINE void attend(
    const Context *context, const float *query, float *weights, float *out, const int halved)
{
    float most = -INFINITY;
    int rows = 0, in = 0;
    for (int at = 0; at < context->count; at++) {
        most = score(context->stretches + at, context, query, weights + rows, most, halved);
        rows += context->stretches[at].rows;
    }
    softmax(weights, rows, most);
    for (; in + STRIP * LANES <= context->width; in += STRIP * LANES)
        weighted_sum(context, in, weights, out, STRIP, halved);
    for (; in < context->width; in += LANES) weighted_sum(context, in, weights, out, 1, halved);
}

void attend_stored(const Context *context, const float *query, float *weights, float *out)
{
    attend(context, query, weights, out, 1);
}

void attend_floats(const Context *context, const float *query, float *weights, float *out)
{
    attend(context, query, weights, out, 0);
}
