#include "codec_layers.h"

#include <string.h>

#include "codec_matmul.h"

int next_piece(Walk *walk, int pieces)
{
    return team_next(walk->team, walk->turns[walk->phase & 1], walk->thread, pieces);
}

/* The turns of the next phase are those of the one before this, which everybody has left. */
void end_phase(Walk *walk)
{
    walk->phase++;
    atomic_store(&walk->turns[walk->phase & 1][walk->thread], 0);
    team_meet(walk->team);
}

/* This thread's share of the `count` newest rows, which `newest` begins with, into `kept`. */
void keep_newest(const Walk *walk, const float *newest, int count, int width, float *kept)
{
    int threads = team_threads(walk->team);
    int first = count * walk->thread / threads, end = count * (walk->thread + 1) / threads;
    ptrdiff_t from = (ptrdiff_t)first * width;
    memcpy(kept + from, newest + from, (size_t)((end - first) * width) * sizeof *kept);
}

void snake_row(const Waves *waves, const float *in, int width, float *out)
{
    for (int at = 0; at < width; at += LANES) {
        Lanes rate = load_lanes(waves->rate + at), height = load_lanes(waves->height + at);
        store_lanes(out + at, snake(load_lanes(in + at), rate, height));
    }
}

/* `history` rows of `past` and then the rows of `in`, through `waves` if there are any. */
void pad(
    Walk *walk, const float *past, int history, const float *in, int rows, int width,
    const Waves *waves, float *padded)
{
    float *to = row_of(padded, history, width);
    int piece, pieces = pieces_of(rows, CHUNK);
    if (walk->thread == 0) memcpy(padded, past, (size_t)(history * width) * sizeof *past);
    while ((piece = next_piece(walk, pieces)) >= 0) {
        int end = (piece + 1) * CHUNK < rows ? (piece + 1) * CHUNK : rows;
        for (int row = piece * CHUNK; row < end; row++) {
            ptrdiff_t from = (ptrdiff_t)row * width;
            if (waves)
                snake_row(waves, in + from, width, to + from);
            else
                memcpy(to + from, in + from, (size_t)width * sizeof *to);
        }
    }
    end_phase(walk);
}

/* Sums of a panel's columns, with the bias and perhaps what is there already, to rows of `out`. */
static void finish(
    const Product *product, int panel, const float *sums, int rows, float *out, int add)
{
    int first = panel * PANEL, left = product->out - first, columns = left < PANEL ? left : PANEL;
    for (int row = 0; row < rows; row++) {
        float *to = row_of(out, row, product->out) + first;
        for (int at = 0; at < columns; at += LANES) {
            Lanes sum = load_lanes(sums + row * PANEL + at);
            sum = sum + load_lanes(product->bias + first + at);
            if (add) sum = sum + load_lanes(to + at);
            store_lanes(to + at, sum);
        }
    }
}

/* out [rows][product->out] = (or +=) the product of each row of `in` and those behind it. */
void multiply(
    Walk *walk, const Product *product, const float *in, int rows, float *out, int add)
{
    int width = product->in, piece, panels = pieces_of(product->out, PANEL);
    int blocks = pieces_of(rows, BLOCK_ROWS);
    float *sums = walk->scratch;
    while ((piece = next_piece(walk, panels * blocks)) >= 0) {
        int panel = piece / blocks, block = piece % blocks;
        int first = rows * block / blocks, count = rows * (block + 1) / blocks - first;
        const float *weights = product->panels + (ptrdiff_t)panel * product->taps * width * PANEL;
        for (int tap = 0; tap < product->taps; tap++)
            add_product_rows(
                in + (ptrdiff_t)(first + tap) * width, width, count,
                weights + (ptrdiff_t)tap * width * PANEL, width, sums, tap == 0);
        finish(product, panel, sums, count, row_of(out, first, product->out), add);
    }
    end_phase(walk);
}

/* A causal convolution of product->taps steps. */
void convolve(
    Walk *walk, const Product *product, const Waves *waves, const float *in, int rows,
    const float *past, float *next, float *padded, float *out)
{
    int history = product->taps - 1, width = product->in;
    pad(walk, past, history, in, rows, width, waves, padded);
    keep_newest(walk, row_of(padded, rows, width), history, width, next);
    multiply(walk, product, padded, rows, out, 0);
}
