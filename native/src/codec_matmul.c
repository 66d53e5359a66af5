#include "codec_matmul.h"

/* ROWS whose sums of WIDE vectors are held in registers at once, beside the weights, which are read
 * once for all of them; of FEW rows, or less, the sums of all vectors are. */
#if defined(WITH_AVX512)
enum { ROWS = 8, FEW = 8, WIDE = VECTORS };
#elif defined(WITH_AVX2)
enum { ROWS = 4, FEW = 2, WIDE = VECTORS / 2 };
#elif defined(WITH_NEON)
enum { ROWS = 2, FEW = 2, WIDE = VECTORS };
#else
enum { ROWS = 1, FEW = 1, WIDE = VECTORS };
#endif

enum { DEPTH = 96, LINE = 16 }; /* a panel of this depth, 18 KB, stays in the L1 cache */

/* Each block of DEPTH terms is summed by itself and then added to the sums: adding thousands of
 * terms one after the other would cost a decimal place.
 *
 * One block of at most ROWS rows, `vectors` wide; both are constants wherever this is inlined. */
INLINE void block(
    const float *a, ptrdiff_t stride, const float *panel, int depth, float *sums, int fresh,
    const float *ahead, const int rows, const int vectors)
{
    floats sum[ROWS][VECTORS];
    UNROLLED
    for (int row = 0; row < rows; row++) {
        UNROLLED
        for (int part = 0; part < vectors; part++) sum[row][part] = (floats) { 0 };
    }
    for (int k = 0; k < depth; k++) {
        floats weights[VECTORS];
        __builtin_prefetch(ahead + k * LINE, 0, 2);
        UNROLLED
        for (int part = 0; part < vectors; part++)
            weights[part] = load(panel + k * PANEL + part * LANES);
        UNROLLED
        for (int row = 0; row < rows; row++) {
            floats value = all_floats(a[row * stride + k]);
            UNROLLED
            for (int part = 0; part < vectors; part++)
                sum[row][part] = add_product(sum[row][part], value, weights[part]);
        }
    }
    UNROLLED
    for (int row = 0; row < rows; row++) {
        UNROLLED
        for (int part = 0; part < vectors; part++) {
            float *to = sums + row * PANEL + part * LANES;
            store(to, fresh ? sum[row][part] : load(to) + sum[row][part]);
        }
    }
}

#define BLOCK_OF(ROW_COUNT, WIDTH)                                                                 \
    case ROW_COUNT:                                                                                \
        block(a, stride, panel, depth, sums, fresh, ahead, ROW_COUNT, WIDTH);                      \
        break

static void block_of(
    const float *a, ptrdiff_t stride, const float *panel, int depth, float *sums, int fresh,
    const float *ahead, int rows)
{
    switch (rows) {
        BLOCK_OF(1, VECTORS);
#if defined(WITH_AVX512)
        BLOCK_OF(2, VECTORS);
        BLOCK_OF(3, VECTORS);
        BLOCK_OF(4, VECTORS);
        BLOCK_OF(5, VECTORS);
        BLOCK_OF(6, VECTORS);
        BLOCK_OF(7, VECTORS);
#elif defined(WITH_AVX2)
        BLOCK_OF(2, VECTORS);
        BLOCK_OF(3, WIDE);
#endif
    default:
        block(a, stride, panel, depth, sums, fresh, ahead, ROWS, WIDE);
    }
}

void add_product_rows(
    const float *a, ptrdiff_t stride, int rows, const float *panel, int depth, float *sums,
    int fresh)
{
    int parts = (depth + DEPTH - 1) / DEPTH, blocks = (rows + ROWS - 1) / ROWS;
    for (int part = 0; part < parts; part++) {
        int from = depth * part / parts, size = depth * (part + 1) / parts - from, asked = 0;
        const float *here = panel + (ptrdiff_t)from * PANEL, *next = here + size * PANEL;
        for (int at = 0; at < blocks; at++) {
            int first = rows * at / blocks, count = rows * (at + 1) / blocks - first;
            int wide = count > FEW ? WIDE : VECTORS;
            for (int vector = 0; vector < VECTORS; vector += wide, asked++) {
                const float *ahead = asked < PANEL / LINE ? next + asked * size * LINE : here;
                block_of(
                    a + first * stride + from, stride, here + vector * LANES, size,
                    sums + first * PANEL + vector * LANES, fresh && part == 0, ahead, count);
            }
        }
    }
}
