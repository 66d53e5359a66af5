#include "codec_layers.h"

#include <string.h>

#include "codec_matmul.h"

int next_item(Worker *worker, int items)
{
    return pool_next_item(worker->pool, worker->counters[worker->phase & 1], worker->thread, items);
}

/* The counters of the next phase are those of the phase before this one, which all have left. */
void end_phase(Worker *worker)
{
    worker->phase++;
    atomic_store(&worker->counters[worker->phase & 1][worker->thread], 0);
    pool_barrier(worker->pool);
}

void save_history(const Worker *worker, const float *newest, int count, int width, float *saved)
{
    int threads = pool_threads(worker->pool);
    int first = count * worker->thread / threads, end = count * (worker->thread + 1) / threads;
    ptrdiff_t from = (ptrdiff_t)first * width;
    memcpy(saved + from, newest + from, (size_t)((end - first) * width) * sizeof *saved);
}

void snake_row(const Snake *activation, const float *in, int width, float *out)
{
    for (int at = 0; at < width; at += LANES) {
        floats frequency = load(activation->frequency + at);
        floats scale = load(activation->scale + at);
        store(out + at, snake(load(in + at), frequency, scale));
    }
}

void pad_rows(
    Worker *worker, const float *history, int history_rows, const float *in, int rows, int width,
    const Snake *activation, float *padded)
{
    float *to = row_of(padded, history_rows, width);
    int item, items = ceil_div(rows, CHUNK);
    if (worker->thread == 0)
        memcpy(padded, history, (size_t)(history_rows * width) * sizeof *history);
    while ((item = next_item(worker, items)) >= 0) {
        int end = (item + 1) * CHUNK < rows ? (item + 1) * CHUNK : rows;
        for (int row = item * CHUNK; row < end; row++) {
            ptrdiff_t from = (ptrdiff_t)row * width;
            if (activation)
                snake_row(activation, in + from, width, to + from);
            else
                memcpy(to + from, in + from, (size_t)width * sizeof *to);
        }
    }
    end_phase(worker);
}

/* out (or, with `add`, +=) the sums of a panel's columns and the bias. */
static void finish(
    const PackedWeights *weights, int panel, const float *sums, int rows, float *out, int add)
{
    int first = panel * PANEL, left = weights->out - first, columns = left < PANEL ? left : PANEL;
    for (int row = 0; row < rows; row++) {
        float *to = row_of(out, row, weights->out) + first;
        for (int at = 0; at < columns; at += LANES) {
            floats sum = load(sums + row * PANEL + at);
            sum = sum + load(weights->bias + first + at);
            if (add) sum = sum + load(to + at);
            store(to + at, sum);
        }
    }
}

void multiply(
    Worker *worker, const PackedWeights *weights, const float *in, int rows, float *out, int add)
{
    int width = weights->in, item, panels = ceil_div(weights->out, PANEL);
    int blocks = ceil_div(rows, BLOCK_ROWS);
    float *sums = worker->scratch;
    while ((item = next_item(worker, panels * blocks)) >= 0) {
        int panel = item / blocks, block = item % blocks;
        int first = rows * block / blocks, count = rows * (block + 1) / blocks - first;
        const float *matrix = weights->panels + (ptrdiff_t)panel * weights->taps * width * PANEL;
        for (int tap = 0; tap < weights->taps; tap++)
            add_product_rows(
                in + (ptrdiff_t)(first + tap) * width, width, count,
                matrix + (ptrdiff_t)tap * width * PANEL, width, sums, tap == 0);
        finish(weights, panel, sums, count, row_of(out, first, weights->out), add);
    }
    end_phase(worker);
}

void convolve(
    Worker *worker, const PackedWeights *weights, const Snake *activation, const float *in,
    int rows, const float *history, float *next_history, float *padded, float *out)
{
    int history_rows = weights->taps - 1, width = weights->in;
    pad_rows(worker, history, history_rows, in, rows, width, activation, padded);
    save_history(worker, row_of(padded, rows, width), history_rows, width, next_history);
    multiply(worker, weights, padded, rows, out, 0);
}
