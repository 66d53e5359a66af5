/* Building blocks of the layers of the codec decoder. All threads of a pool execute them together,
 * in phases: a phase begins when every thread has finished the one before it. */
#ifndef S2S_CODEC_LAYERS_H
#define S2S_CODEC_LAYERS_H

#include <stddef.h>

#include "level.h"
#include "codec_matmul.h"
#include "sizes.h"
#include "thread_pool.h"

enum {
    CODEC_PAD = 16,
    BLOCK_ROWS = 64, /* rows of a work item of a matrix product: its sums stay in the L1 cache */
    CHUNK = 32,      /* rows of any other work item */
};

/* The Snake activation x + scale * sin(pi * frequency * x)^2, per channel. */
typedef struct { const float *frequency, *scale; } Snake;

/* The same, with an absolute error below 3e-7 * scale beside that of the angle; |frequency * x| must
 * be below 2^22. sin^2 has period pi: the angle is counted in half turns and only its fraction f
 * matters; the polynomial in f^2 is a minimax fit on [-1/2, 1/2]. */
INLINE floats snake(floats x, floats frequency, floats scale)
{
    const float to_nearest = 0x1.8p23f; /* numbers of this size have no fraction */
    floats half_turns = x * frequency, nearest = (half_turns + to_nearest) - to_nearest;
    floats fraction = half_turns - nearest, square = fraction * fraction;
    floats sum = add_product(all_floats(12.990730f), square, all_floats(-3.2729454f));
    sum = add_product(all_floats(-30.085953f), square, sum);
    sum = add_product(all_floats(42.725384f), square, sum);
    sum = add_product(all_floats(-32.469582f), square, sum);
    sum = add_product(all_floats(9.8696032f), square, sum);
    return add_product(x, scale, square * sum);
}

/* Weights of a causal convolution of `taps` steps (one: a 1x1 convolution), as a matrix of
 * taps * in rows, oldest step first, and `out` columns: in panels of PANEL columns,
 * panels[panel][taps * in][PANEL], the last one padded with zeros. bias: [out]. */
typedef struct { int taps, in, out; const float *panels, *bias; } PackedWeights;

/* Whether weights are of this shape, whose widths are multiples of CODEC_PAD. */
static inline int is_of(const PackedWeights *weights, int taps, int in, int64_t out)
{
    return weights->taps == taps && weights->in == in && weights->out == out
           && divides(CODEC_PAD, in) && divides(CODEC_PAD, weights->out);
}

typedef atomic_int WorkCounters[MAX_THREADS];

/* One thread in a run. counters: work counters of the current phase and of the next, by the parity
 * of the phase, zero at the beginning; scratch: BLOCK_ROWS * PANEL floats or more, of this thread
 * alone. */
typedef struct {
    ThreadPool *pool;
    WorkCounters *counters;
    float *scratch;
    void *run;
    int thread;
    unsigned phase;
} Worker;

/* The next work item of this phase that no thread has taken yet, or -1. */
int next_item(Worker *worker, int items);
void end_phase(Worker *worker);

static inline int ceil_div(int count, int size)
{
    return (count + size - 1) / size;
}

static inline float *row_of(float *rows, int row, int width)
{
    return rows + (ptrdiff_t)row * width;
}

void snake_row(const Snake *activation, const float *in, int width, float *out);

/* A phase: padded = `history_rows` rows of `history`, then the rows of `in`, through `activation`
 * unless it is NULL. */
void pad_rows(
    Worker *worker, const float *history, int history_rows, const float *in, int rows, int width,
    const Snake *activation, float *padded);

/* This thread's share of the `count` newest rows of a stream, which `newest` points to, into
 * `saved`: the history of the next run. */
void save_history(const Worker *worker, const float *newest, int count, int width, float *saved);

/* A phase: out [rows][weights->out] = (or, with `add`, +=) the convolution that begins at each row
 * of `in`, and the bias. */
void multiply(
    Worker *worker, const PackedWeights *weights, const float *in, int rows, float *out, int add);

/* Two phases: a causal convolution of weights->taps steps. `padded` is working memory. */
void convolve(
    Worker *worker, const PackedWeights *weights, const Snake *activation, const float *in,
    int rows, const float *history, float *next_history, float *padded, float *out);

#endif
