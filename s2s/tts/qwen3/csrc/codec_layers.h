/* What the layers of the codec decoder are made of. All threads of a team walk through them together,
 * in phases: nobody begins one before all have finished the one before it. */
#ifndef S2S_CODEC_LAYERS_H
#define S2S_CODEC_LAYERS_H

#include <stddef.h>

#include "thread_pool.h"

enum {
    CODEC_PAD = 16,
    BLOCK_ROWS = 64, /* rows of a piece of a product: its sums stay in the nearest cache */
    CHUNK = 32,      /* rows of a piece of anything else */
};

/* x + height * sin(pi * rate * x)^2, per channel */
typedef struct { const float *rate, *height; } Waves;

/* A matrix of `taps` * in rows, oldest step first, and `out` columns: in panels of PANEL columns,
 * panels[panel][taps * in][PANEL], the last one filled up with zeros. bias: [out]. */
typedef struct { int taps, in, out; const float *panels, *bias; } Product;

typedef atomic_int Turns[MAX_THREADS];

/* One thread's way through a run. turns: [2], zero at the beginning; scratch: BLOCK_ROWS * PANEL
 * floats or more, of this thread alone. */
typedef struct {
    Team *team;
    Turns *turns;
    float *scratch;
    void *run;
    int thread;
    unsigned phase;
} Walk;

/* The next piece of this phase that nobody has done yet, or -1. */
int next_piece(Walk *walk, int pieces);
void end_phase(Walk *walk);

static inline int pieces_of(int count, int size)
{
    return (count + size - 1) / size;
}

static inline float *row_of(float *rows, int row, int width)
{
    return rows + (ptrdiff_t)row * width;
}

void snake_row(const Waves *waves, const float *in, int width, float *out);

/* A phase: padded = `history` rows of `past`, then the rows of `in`, through `waves` if there are
 * any. */
void pad(
    Walk *walk, const float *past, int history, const float *in, int rows, int width,
    const Waves *waves, float *padded);

/* This thread's share of the `count` newest rows, which `newest` begins with, into `kept`. */
void keep_newest(const Walk *walk, const float *newest, int count, int width, float *kept);

/* A phase: out [rows][product->out] = (or +=) the product of each row of `in` and those behind it,
 * and the bias. */
void multiply(Walk *walk, const Product *product, const float *in, int rows, float *out, int add);

/* Two phases: a causal convolution of product->taps steps. `padded` is working memory. */
void convolve(
    Walk *walk, const Product *product, const Waves *waves, const float *in, int rows,
    const float *past, float *next, float *padded, float *out);

#endif
