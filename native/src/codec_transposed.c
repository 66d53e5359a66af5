#include "codec_transposed.h"

#include <string.h>

#include "codec_matmul.h"

enum { POINTS = TRANSPOSED_MATRICES, STEPS = TRANSPOSED_STEPS, TILE_ROWS = 32, TILES_PER_ITEM = 8 };

size_t transposed_floats(size_t steps, size_t width)
{
    return buffer_of(times(POINTS, steps / STEPS), width);
}

size_t transposed_scratch(size_t width)
{
    return larger(POINTS * TILE_ROWS * PANEL, times(POINTS, width));
}

/* Planes [POINTS][tiles][width] at `at`, from a tile's step before and its own [POINTS][width]. */
static void transform(const float *steps, int width, ptrdiff_t plane, float *to)
{
    const floats minus_two = all_floats(-2);
    for (int at = 0; at < width; at += LANES) {
        floats d[POINTS], e[POINTS - 1];
        for (int step = 0; step < POINTS; step++) d[step] = load(steps + step * width + at);
        for (int step = 0; step < POINTS - 1; step++)
            e[step] = add_product(d[step + 1], minus_two, d[step]);
        store(to + at, e[2] - e[0]);
        store(to + plane + at, e[2] + e[1]);
        store(to + 2 * plane + at, e[2] - e[1]);
        store(to + 3 * plane + at, d[3] - d[1]);
        store(to + 4 * plane + at, e[3] - e[1]);
    }
}

/* A phase: all planes. A work item is some tiles, one after the other. */
static void read_tiles(
    Worker *worker, const Snake *activation, const float *in, int tiles, int width,
    const float *history, float *planes)
{
    int item, items = ceil_div(tiles, TILES_PER_ITEM);
    ptrdiff_t plane = (ptrdiff_t)tiles * width;
    float *steps = worker->scratch;
    size_t bytes = (size_t)width * sizeof *steps;
    while ((item = next_item(worker, items)) >= 0) {
        int tile = item * TILES_PER_ITEM;
        int end = tile + TILES_PER_ITEM < tiles ? tile + TILES_PER_ITEM : tiles;
        if (tile)
            snake_row(activation, in + ((ptrdiff_t)STEPS * tile - 1) * width, width, steps);
        else
            memcpy(steps, history, bytes);
        for (; tile < end; tile++) {
            for (int step = 0; step < STEPS; step++)
                snake_row(
                    activation, in + ((ptrdiff_t)STEPS * tile + step) * width, width,
                    row_of(steps, 1 + step, width));
            transform(steps, width, plane, row_of(planes, tile, width));
            memcpy(steps, row_of(steps, STEPS, width), bytes);
        }
    }
    end_phase(worker);
}

/* Four steps of the input from the sums of each tile, with bias. */
static void finish(
    const PackedWeights *weights, int panel, const float *sums, int first_tile, int count,
    float *out)
{
    int first = panel * PANEL, left = weights->out - first, columns = left < PANEL ? left : PANEL;
    for (int row = 0; row < count; row++) {
        float *to = row_of(out, STEPS * (first_tile + row), weights->out) + first;
        for (int at = 0; at < columns; at += LANES) {
            floats s[POINTS], bias = load(weights->bias + first + at), sum, difference;
            for (int point = 0; point < POINTS; point++)
                s[point] = load(sums + (point * TILE_ROWS + row) * PANEL + at);
            sum = s[1] + s[2];
            difference = s[1] - s[2];
            store(to + at, bias + ((s[0] + s[3]) + sum));
            store(
                row_of(to, 1, weights->out) + at,
                bias + add_product(difference, all_floats(2), s[3]));
            store(
                row_of(to, 2, weights->out) + at, bias + add_product(sum, all_floats(4), s[3]));
            store(
                row_of(to, 3, weights->out) + at,
                bias + add_product(difference + s[4], all_floats(8), s[3]));
        }
    }
}

void convolve_transposed(
    Worker *worker, const PackedWeights *weights, const Snake *activation, const float *in,
    int steps, const float *history, float *next_history, float *planes, float *out)
{
    int width = weights->in, tiles = steps / STEPS, item;
    int panels = ceil_div(weights->out, PANEL), blocks = ceil_div(tiles, TILE_ROWS);
    ptrdiff_t matrix = (ptrdiff_t)width * PANEL;
    read_tiles(worker, activation, in, tiles, width, history, planes);
    if (worker->thread == 0)
        snake_row(activation, in + (ptrdiff_t)(steps - 1) * width, width, next_history);
    while ((item = next_item(worker, panels * blocks)) >= 0) {
        int panel = item / blocks, block = item % blocks;
        int first = (int)((int64_t)tiles * block / blocks);
        int count = (int)((int64_t)tiles * (block + 1) / blocks) - first;
        for (int point = 0; point < POINTS; point++)
            add_product_rows(
                planes + ((ptrdiff_t)point * tiles + first) * width, width, count,
                weights->panels + ((ptrdiff_t)panel * POINTS + point) * matrix, width,
                worker->scratch + point * TILE_ROWS * PANEL, 1);
        finish(weights, panel, worker->scratch, first, count, out);
    }
    end_phase(worker);
}
