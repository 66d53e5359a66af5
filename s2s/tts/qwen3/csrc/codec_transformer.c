#include "codec_transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec_simd.h"
#include "matrix.h"

enum { TAPS = 7, COLUMNS = 128 /* of a piece of work on single values */ };

struct Latent {
    LatentShape shape;
    Team *team;
    float *memory;
    float *padded, *stream, *normed, *joined, *mixed, *gates, *inner, *steps[2], *turns;
    float *scratch[MAX_THREADS];
};

typedef struct {
    Latent *latent;
    const float *in;
    int frames;
    long long before;
    float *const *past, *const *next;
    float *out;
    Turns turns[2];
} Run;

static float lane_sum(Lanes values)
{
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += values[lane];
    return sum;
}

static float dot(const float *a, const float *b, int width)
{
    Lanes sum = { 0 };
    for (int at = 0; at < width; at += LANES)
        sum = plus_product(sum, load_lanes(a + at), load_lanes(b + at));
    return lane_sum(sum);
}

/* A phase: out = each row of `in` over the root of its mean square. */
static void normalise(
    Walk *walk, const float *in, int rows, int width, float epsilon, float *out)
{
    int row;
    while ((row = next_piece(walk, rows)) >= 0) {
        const float *from = in + (ptrdiff_t)row * width;
        float *to = row_of(out, row, width);
        float scale = 1 / sqrtf(dot(from, from, width) / (float)width + epsilon);
        for (int at = 0; at < width; at += LANES)
            store_lanes(to + at, load_lanes(from + at) * every_lane(scale));
    }
    end_phase(walk);
}

/* --- attention -------------------------------------------------------------------------------- */

/* One head's keys or values: `held` remembered ones, then the new ones, `stride` apart. */
typedef struct { const float *past, *made; int held, stride, width; } Column;

static const float *row_in(const Column *column, int row)
{
    if (row < column->held) return column->past + (ptrdiff_t)row * column->width;
    return column->made + (ptrdiff_t)(row - column->held) * column->stride;
}

static void keep_column(const Column *column, int total, int kept, float *next)
{
    for (int row = 0; row < kept; row++)
        memcpy(
            row_of(next, row, column->width), row_in(column, total - kept + row),
            (size_t)column->width * sizeof *next);
}

/* Cosines and sines of the new positions: [frames][head_dim], halves. */
static void find_turns(const Run *run)
{
    const LatentShape *shape = &run->latent->shape;
    int half = shape->head_dim / 2;
    for (int frame = 0; frame < run->frames; frame++) {
        float *turns = row_of(run->latent->turns, frame, shape->head_dim);
        for (int at = 0; at < half; at++) {
            float angle = (float)(run->before + frame) * shape->frequencies[at];
            turns[at] = cosf(angle);
            turns[half + at] = sinf(angle);
        }
    }
}

static void rotate(float *pair, const float *turns, int width)
{
    int half = width / 2;
    for (int at = 0; at < half; at++) {
        float left = pair[at], right = pair[half + at], cosine = turns[at], sine = turns[half + at];
        pair[at] = left * cosine - right * sine;
        pair[half + at] = right * cosine + left * sine;
    }
}

/* out = values weighted by the softmax of query times keys, of rows `first` up to `end`. */
static void attend(
    const float *query, const Column *keys, const Column *values, int first, int end,
    float *weights, float *out)
{
    float largest = -INFINITY, total = 0;
    for (int row = first; row < end; row++) {
        float score = dot(query, row_in(keys, row), keys->width);
        weights[row - first] = score;
        largest = score > largest ? score : largest;
    }
    for (int row = first; row < end; row++) {
        float weight = expf(weights[row - first] - largest);
        weights[row - first] = weight;
        total += weight;
    }
    for (int at = 0; at < values->width; at += LANES) {
        Lanes sum = { 0 };
        for (int row = first; row < end; row++)
            sum = plus_product(
                sum, every_lane(weights[row - first]), load_lanes(row_in(values, row) + at));
        store_lanes(out + at, sum / every_lane(total));
    }
}

/* A phase: attention of the new frames, whose queries, keys and values are joined; a piece is a
 * head. */
static void attend_heads(Walk *walk, int layer)
{
    const Run *run = walk->run;
    const Latent *latent = run->latent;
    const LatentShape *shape = &latent->shape;
    int head, size = shape->head_dim, width = shape->heads * size, most = shape->window - 1;
    int held = run->before < most ? (int)run->before : most, total = held + run->frames;
    int kept = total < most ? total : most, state = 1 + 2 * layer;
    while ((head = next_piece(walk, shape->heads)) >= 0) {
        float *made = latent->joined + head * size;
        ptrdiff_t old = (ptrdiff_t)head * held * size, new = (ptrdiff_t)head * kept * size;
        Column keys = { run->past[state] + old, made + width, held, 3 * width, size };
        Column values = { run->past[state + 1] + old, made + 2 * width, held, 3 * width, size };
        for (int frame = 0; frame < run->frames; frame++) {
            const float *turns = latent->turns + frame * size;
            float *query = row_of(made, frame, 3 * width);
            int end = held + frame + 1, first = end > shape->window ? end - shape->window : 0;
            rotate(query, turns, size);
            rotate(query + width, turns, size);
            attend(
                query, &keys, &values, first, end, walk->scratch,
                row_of(latent->mixed, frame, width) + head * size);
        }
        keep_column(&keys, total, kept, run->next[state] + new);
        keep_column(&values, total, kept, run->next[state + 1] + new);
    }
    end_phase(walk);
}

/* --- feed-forward ----------------------------------------------------------------------------- */

/* A phase: inner = gate / (1 + e^-gate) * up, gates [rows][2 * width] being gate and up. */
static void gate(Walk *walk, const float *gates, int rows, int width, float *inner)
{
    int piece, chunks = pieces_of(width, COLUMNS);
    while ((piece = next_piece(walk, rows * chunks)) >= 0) {
        int row = piece / chunks, at = piece % chunks * COLUMNS;
        int end = at + COLUMNS < width ? at + COLUMNS : width;
        const float *left = gates + (ptrdiff_t)row * 2 * width, *right = left + width;
        float *to = row_of(inner, row, width);
        for (; at < end; at++) to[at] = left[at] / (1 + expf(-left[at])) * right[at];
    }
    end_phase(walk);
}

/* A phase: values = the share of each below a normal one's, times itself (GELU). */
static void gelu(Walk *walk, float *values, int rows, int width)
{
    int piece, chunks = pieces_of(width, COLUMNS);
    while ((piece = next_piece(walk, rows * chunks)) >= 0) {
        int at = piece % chunks * COLUMNS, end = at + COLUMNS < width ? at + COLUMNS : width;
        float *row = row_of(values, piece / chunks, width);
        for (; at < end; at++) row[at] *= 0.5f + 0.5f * erff(row[at] * 0.70710678f);
    }
    end_phase(walk);
}

static void transform(Walk *walk, int at)
{
    const Run *run = walk->run;
    const Latent *latent = run->latent;
    const LatentLayer *layer = latent->shape.layer + at;
    int frames = run->frames, width = latent->shape.input.out;
    float epsilon = latent->shape.epsilon;
    normalise(walk, latent->stream, frames, width, epsilon, latent->normed);
    multiply(walk, &layer->query_key_value, latent->normed, frames, latent->joined, 0);
    attend_heads(walk, at);
    multiply(walk, &layer->out, latent->mixed, frames, latent->stream, 1);
    normalise(walk, latent->stream, frames, width, epsilon, latent->normed);
    multiply(walk, &layer->gate_up, latent->normed, frames, latent->gates, 0);
    gate(walk, latent->gates, frames, layer->down.in, latent->inner);
    multiply(walk, &layer->down, latent->inner, frames, latent->stream, 1);
}

/* --- upsampling ------------------------------------------------------------------------------- */

/* One step's convolution of each channel by itself, normed: mean 0, variance 1. */
static void mix_taps(const Upsample *upsample, const float *in, float epsilon, float *out)
{
    int width = upsample->up.in;
    Lanes sum = { 0 }, squares = { 0 }, mean;
    for (int at = 0; at < width; at += LANES) {
        Lanes value = load_lanes(upsample->taps_bias + at);
        for (int tap = 0; tap < TAPS; tap++)
            value = plus_product(
                value, load_lanes(in + tap * width + at),
                load_lanes(upsample->taps + tap * width + at));
        sum = sum + value;
        store_lanes(out + at, value);
    }
    mean = every_lane(lane_sum(sum) / (float)width);
    for (int at = 0; at < width; at += LANES) {
        Lanes away = load_lanes(out + at) - mean;
        squares = plus_product(squares, away, away);
        store_lanes(out + at, away);
    }
    mean = every_lane(1 / sqrtf(lane_sum(squares) / (float)width + epsilon));
    for (int at = 0; at < width; at += LANES) store_lanes(out + at, load_lanes(out + at) * mean);
}

/* out = each of the rows of `in` spread over some steps, through a ConvNeXt block. */
static void run_upsample(Walk *walk, int at, const float *in, int rows, float *out)
{
    const Run *run = walk->run;
    const Latent *latent = run->latent;
    const Upsample *upsample = latent->shape.upsample + at;
    int width = upsample->up.in, row, state = 1 + 2 * latent->shape.layers + at;
    int steps = rows * (upsample->spread.out / width);
    multiply(walk, &upsample->spread, in, rows, out, 0);
    pad(walk, run->past[state], TAPS - 1, out, steps, width, NULL, latent->padded);
    keep_newest(
        walk, row_of(latent->padded, steps, width), TAPS - 1, width, run->next[state]);
    while ((row = next_piece(walk, steps)) >= 0)
        mix_taps(
            upsample, row_of(latent->padded, row, width), latent->shape.step_epsilon,
            row_of(latent->normed, row, width));
    end_phase(walk);
    multiply(walk, &upsample->up, latent->normed, steps, latent->gates, 0);
    gelu(walk, latent->gates, steps, upsample->up.out);
    multiply(walk, &upsample->down, latent->gates, steps, out, 1);
}

static void job(void *work, Team *team, int thread)
{
    Run *run = work;
    const Latent *latent = run->latent;
    const LatentShape *shape = &latent->shape;
    Walk walk = { team, run->turns, latent->scratch[thread], run, thread, 0 };
    int rows = run->frames;
    const float *in = latent->normed;
    if (thread == 0) find_turns(run);
    convolve(
        &walk, &shape->input, NULL, run->in, rows, run->past[0], run->next[0], latent->padded,
        latent->stream);
    for (int layer = 0; layer < shape->layers; layer++) transform(&walk, layer);
    normalise(&walk, latent->stream, rows, shape->input.out, shape->epsilon, latent->normed);
    for (int at = 0; at < shape->upsamples; at++) {
        const Upsample *upsample = shape->upsample + at;
        float *out = at + 1 < shape->upsamples ? latent->steps[at % 2] : run->out;
        run_upsample(&walk, at, in, rows, out);
        rows *= upsample->spread.out / upsample->up.in;
        in = out;
    }
}

void latent_run(
    Latent *latent, const float *in, int frames, long long before, float *const *past,
    float *const *next, float *out)
{
    Run run = { latent, in, frames, before, past, next, out, { { 0 } } };
    team_run(latent->team, job, &run);
}

/* --- memory ----------------------------------------------------------------------------------- */

static ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

/* Places one behind the other, `to` each; returns what they need together. */
static ptrdiff_t place(Latent *latent, float *memory)
{
    const LatentShape *shape = &latent->shape;
    ptrdiff_t frames = shape->frames, rows = frames, width = 0, wide = 0;
    ptrdiff_t heads = (ptrdiff_t)shape->heads * shape->head_dim;
    for (int at = 0; at < shape->upsamples; at++) {
        width = larger(width, shape->upsample[at].up.in);
        wide = larger(wide, shape->upsample[at].up.out);
        rows *= shape->upsample[at].spread.out / shape->upsample[at].up.in;
    }
    struct { float **to; ptrdiff_t size; } parts[] = {
        { &latent->padded,
          larger((frames + shape->input.taps) * shape->input.in, (rows + TAPS) * width) },
        { &latent->stream, frames * shape->input.out },
        { &latent->normed, larger(frames * shape->input.out, rows * width) },
        { &latent->joined, frames * 3 * heads },
        { &latent->mixed, frames * heads },
        { &latent->gates, larger(frames * shape->layer->gate_up.out, rows * wide) },
        { &latent->inner, frames * shape->layer->down.in },
        { &latent->steps[0], rows * width },
        { &latent->steps[1], rows * width },
        { &latent->turns, frames * shape->head_dim },
    };
    ptrdiff_t used = 0, scratch = larger((ptrdiff_t)BLOCK_ROWS * PANEL, shape->window);
    for (size_t at = 0; at < sizeof parts / sizeof *parts; at++) {
        if (memory) *parts[at].to = memory + used;
        used += pieces_of((int)parts[at].size, CODEC_PAD) * CODEC_PAD;
    }
    for (int at = 0; at < team_threads(latent->team); at++, used += scratch)
        if (memory) latent->scratch[at] = memory + used;
    return used;
}

Latent *latent_new(const LatentShape *shape, Team *team)
{
    Latent *latent = calloc(1, sizeof *latent);
    if (!latent) return NULL;
    latent->shape = *shape;
    latent->team = team;
    latent->memory = weights_new((size_t)place(latent, NULL) * sizeof(float));
    if (!latent->memory) {
        free(latent);
        return NULL;
    }
    place(latent, latent->memory);
    return latent;
}

void latent_free(Latent *latent)
{
    if (!latent) return;
    weights_free(latent->memory);
    free(latent);
}
