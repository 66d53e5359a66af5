#include "codec_upsampler.h"

#include <stdlib.h>
#include <string.h>

#include "codec_layers.h"
#include "codec_matmul.h"
#include "matrix.h"

enum { KERNEL = 7, SUMS = 4, DOTS = 4 };

struct Codec {
    CodecShape shape;
    Team *team;
    float *memory;
    float **streams; /* what goes into each block, and out of the last */
    float *padded, *planes, *between;
    float *scratch[MAX_THREADS];
};

/* One call, in phases: nobody begins one before all have finished the one before it. */
typedef struct {
    Codec *codec;
    const float *in;
    int frames;
    long long before;
    float *const *past, *const *next;
    float *out;
    int (*stale)(void);
    Turns turns[2];
    atomic_int stopped;
} Run;

static const Run *run_of(const Walk *walk)
{
    return walk->run;
}

static Codec *codec_of(const Walk *walk)
{
    return run_of(walk)->codec;
}

/* --- convolutions in pairs of steps ----------------------------------------------------------- */

/* The steps of a stream in groups of 2 * dilation, counted from its beginning: a pair is one of the
 * first half of a group and the one `dilation` later. The input begins three groups before those of
 * the output. Planes lie [pair][width]: the pair's steps, and the four sums of these and the next
 * pair's. */
typedef struct {
    int dilation, width, rows;
    int offset; /* of the first new step in its group */
    int groups; /* of the output */
    const float *past, *in;
    const Waves *waves;
} Pairs;

enum { EARLY, LATE, FIRST_SUM, PLANES = FIRST_SUM + SUMS, BEFORE = 3 };

static int input_pairs(const Pairs *pairs)
{
    return (pairs->groups + BEFORE) * pairs->dilation;
}

static float *plane_row(const Codec *codec, const Pairs *pairs, int plane, int pair)
{
    return codec->planes + ((ptrdiff_t)plane * input_pairs(pairs) + pair) * pairs->width;
}

/* Step `step` of the input, counted from its first group: a remembered one, a new one, or zero for
 * one that only steps depend on which are not asked for. */
static void read_step(const Pairs *pairs, int step, float *to)
{
    int history = (KERNEL - 1) * pairs->dilation, at = step - history - pairs->offset;
    size_t bytes = (size_t)pairs->width * sizeof *to;
    if (at >= pairs->rows || at < -history)
        memset(to, 0, bytes);
    else if (at < 0)
        memcpy(to, pairs->past + (ptrdiff_t)(at + history) * pairs->width, bytes);
    else
        snake_row(pairs->waves, pairs->in + (ptrdiff_t)at * pairs->width, pairs->width, to);
}

static void read_pair(const Pairs *pairs, int pair, float *early, float *late)
{
    int group = pair / pairs->dilation, step = pair + group * pairs->dilation;
    read_step(pairs, step, early);
    read_step(pairs, step + pairs->dilation, late);
}

static void sum_pairs(
    const Codec *codec, const Pairs *pairs, int pair, const float *early, const float *late)
{
    const float *d0 = plane_row(codec, pairs, EARLY, pair);
    const float *d1 = plane_row(codec, pairs, LATE, pair);
    float *sums[SUMS];
    for (int at = 0; at < SUMS; at++) sums[at] = plane_row(codec, pairs, FIRST_SUM + at, pair);
    for (int at = 0; at < pairs->width; at += LANES) {
        Lanes first = load_lanes(d0 + at), second = load_lanes(d1 + at);
        Lanes third = load_lanes(early + at), fourth = load_lanes(late + at);
        store_lanes(sums[0] + at, first - third);
        store_lanes(sums[1] + at, second + third);
        store_lanes(sums[2] + at, third - second);
        store_lanes(sums[3] + at, fourth - second);
    }
}

/* All planes. A piece is one place in a group, over CHUNK / 2 groups; the pair behind its last one
 * is read for the sums only. */
static void read_pairs(Walk *walk, const Pairs *pairs)
{
    const Codec *codec = codec_of(walk);
    int groups = pairs->groups + BEFORE, dilation = pairs->dilation, piece;
    int chunks = pieces_of(groups, CHUNK / 2);
    float *scratch = walk->scratch;
    while ((piece = next_piece(walk, chunks * dilation)) >= 0) {
        int chunk = piece / dilation, end = groups * (chunk + 1) / chunks;
        int group = groups * chunk / chunks, pair = group * dilation + piece % dilation;
        read_pair(
            pairs, pair, plane_row(codec, pairs, EARLY, pair), plane_row(codec, pairs, LATE, pair));
        for (; group < end && group + 1 < groups; group++, pair += dilation) {
            int own = group + 1 < end, following = pair + dilation;
            float *early = own ? plane_row(codec, pairs, EARLY, following) : scratch;
            float *late = own ? plane_row(codec, pairs, LATE, following) : scratch + pairs->width;
            read_pair(pairs, following, early, late);
            sum_pairs(codec, pairs, pair, early, late);
        }
    }
    end_phase(walk);
}

static const struct { int sum, plane, groups_later, matrix; } terms[] = {
    { 0, FIRST_SUM + 0, 0, 0 }, { 0, FIRST_SUM + 0, 2, 1 }, { 0, LATE, 1, 2 },
    { 1, FIRST_SUM + 1, 0, 3 }, { 1, FIRST_SUM + 1, 2, 4 },
    { 2, FIRST_SUM + 2, 0, 5 }, { 2, FIRST_SUM + 2, 2, 6 },
    { 3, FIRST_SUM + 3, 0, 7 }, { 3, FIRST_SUM + 3, 2, 8 }, { 3, EARLY, 2, 2 },
};

/* Two steps from the four sums of each pair: bias and waves, to the rows that are new. */
static void finish_pairs(
    const Codec *codec, const Pairs *pairs, const Unit *unit, int panel, int first_pair, int count,
    const float *sums)
{
    const Product *product = &unit->pairs;
    int first = panel * PANEL, left = product->out - first, columns = left < PANEL ? left : PANEL;
    for (int row = 0; row < count; row++) {
        int pair = first_pair + row;
        int step = pair + pair / pairs->dilation * pairs->dilation - pairs->offset;
        int late = step + pairs->dilation;
        for (int at = 0; at < columns; at += LANES) {
            const float *sum = sums + row * PANEL + at;
            Lanes rate = load_lanes(unit->between.rate + first + at);
            Lanes height = load_lanes(unit->between.height + first + at);
            Lanes bias = load_lanes(product->bias + first + at), parts[SUMS];
            for (int each = 0; each < SUMS; each++)
                parts[each] = load_lanes(sum + each * BLOCK_ROWS * PANEL);
            Lanes y0 = bias + (parts[0] + (parts[1] + parts[2]));
            Lanes y1 = bias + (parts[3] + (parts[1] - parts[2]));
            float *to = codec->between + first + at;
            if (step >= 0 && step < pairs->rows)
                store_lanes(row_of(to, step, product->out), snake(y0, rate, height));
            if (late >= 0 && late < pairs->rows)
                store_lanes(row_of(to, late, product->out), snake(y1, rate, height));
        }
    }
}

static void multiply_pairs(Walk *walk, const Pairs *pairs, const Unit *unit)
{
    const Codec *codec = codec_of(walk);
    int width = pairs->width, piece, rows = pairs->groups * pairs->dilation;
    int panels = pieces_of(unit->pairs.out, PANEL), blocks = pieces_of(rows, BLOCK_ROWS);
    float *sums = walk->scratch;
    while ((piece = next_piece(walk, panels * blocks)) >= 0) {
        int panel = piece / blocks, block = piece % blocks;
        int first = rows * block / blocks, count = rows * (block + 1) / blocks - first;
        const float *weights
            = unit->pairs.panels + (ptrdiff_t)panel * CODEC_PAIR_MATRICES * width * PANEL;
        for (size_t at = 0; at < sizeof terms / sizeof *terms; at++) {
            int pair = first + terms[at].groups_later * pairs->dilation;
            add_product_rows(
                plane_row(codec, pairs, terms[at].plane, pair), width, count,
                weights + (ptrdiff_t)terms[at].matrix * width * PANEL, width,
                sums + terms[at].sum * BLOCK_ROWS * PANEL,
                at == 0 || terms[at].sum != terms[at - 1].sum);
        }
        finish_pairs(codec, pairs, unit, panel, first, count, sums);
    }
    end_phase(walk);
}

/* The newest steps, out of the planes. */
static void keep_pairs(const Walk *walk, const Pairs *pairs, float *next)
{
    int history = (KERNEL - 1) * pairs->dilation, threads = team_threads(walk->team);
    int end = history * (walk->thread + 1) / threads;
    for (int at = history * walk->thread / threads; at < end; at++) {
        int step = pairs->offset + pairs->rows + at, group = step / (2 * pairs->dilation);
        int place = step - group * 2 * pairs->dilation, late = place >= pairs->dilation;
        int pair = group * pairs->dilation + (late ? place - pairs->dilation : place);
        const float *from = plane_row(codec_of(walk), pairs, late ? LATE : EARLY, pair);
        memcpy(row_of(next, at, pairs->width), from, (size_t)pairs->width * sizeof *next);
    }
}

/* stream [rows][width] += waves, convolution, waves and matrix of itself. `begin`: the steps that
 * came before these in the stream. */
static void residual(
    Walk *walk, const Unit *unit, float *stream, int rows, long long begin, const float *past,
    float *next)
{
    int period = 2 * unit->dilation, offset = (int)(begin % period);
    Pairs pairs = {
        unit->dilation, unit->pairs.in, rows, offset, pieces_of(offset + rows, period), past,
        stream, &unit->before,
    };
    read_pairs(walk, &pairs);
    keep_pairs(walk, &pairs, next);
    multiply_pairs(walk, &pairs, unit);
    multiply(walk, &unit->mix, codec_of(walk)->between, rows, stream, 1);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Steps of a frame that go into a block, or out of the last. */
static int steps_before(const CodecShape *shape, int block)
{
    int steps = shape->steps;
    for (int at = 0; at < block; at++) steps *= shape->block[at].rate;
    return steps;
}

/* Channels that go into a block, or out of the last. */
static int channels_of(const CodecShape *shape, int block)
{
    return block ? shape->block[block - 1].units[0].pairs.in : shape->first.out;
}

/* The place of a block's first state, or of that behind the last block. */
static int state_of(int block)
{
    return 1 + (1 + CODEC_UNITS) * block;
}

/* Block `at` on `frames` frames, the first of which is the stream's `before`th. */
static void run_block(
    Walk *walk, int at, const float *in, int frames, long long before, float *const *past,
    float *out)
{
    const CodecShape *shape = &codec_of(walk)->shape;
    const Block *block = shape->block + at;
    float *const *next = run_of(walk)->next;
    int steps = steps_before(shape, at), more = steps * block->rate, state = state_of(at);
    convolve(
        walk, &block->spread, &block->before, in, steps * frames, past[state], next[state],
        codec_of(walk)->padded, out);
    for (int unit = 0; unit < CODEC_UNITS; unit++) {
        state++;
        residual(
            walk, block->units + unit, out, more * frames, before * more, past[state],
            next[state]);
    }
}

/* DOTS samples from rows of `in`, 7 * width values each, `width` apart. */
static void dot_rows(const float *in, const float *weights, float bias, int width, float *out)
{
    Lanes sums[DOTS] = { { 0 } };
    for (int at = 0; at < KERNEL * width; at += LANES) {
        Lanes weight = load_lanes(weights + at);
        UNROLLED
        for (int row = 0; row < DOTS; row++)
            sums[row] = plus_product(sums[row], load_lanes(in + row * width + at), weight);
    }
    for (int row = 0; row < DOTS; row++) {
        float sum = bias;
        for (int lane = 0; lane < LANES; lane++) sum += sums[row][lane];
        out[row] = sum < -1.0f ? -1.0f : sum > 1.0f ? 1.0f : sum;
    }
}

/* The last waves and the convolution to one channel. */
static void make_samples(
    Walk *walk, const float *in, int rows, const float *past, float *next, float *out)
{
    const Codec *codec = codec_of(walk);
    const CodecShape *shape = &codec->shape;
    int width = channels_of(shape, shape->blocks), history = KERNEL - 1, piece;
    int pieces = pieces_of(rows, CHUNK);
    pad(walk, past, history, in, rows, width, &shape->waves, codec->padded);
    keep_newest(walk, row_of(codec->padded, rows, width), history, width, next);
    while ((piece = next_piece(walk, pieces)) >= 0) {
        int row = piece * CHUNK, end = row + CHUNK < rows ? row + CHUNK : rows;
        for (; row < end; row += DOTS) {
            float samples[DOTS];
            dot_rows(
                row_of(codec->padded, row, width), shape->last, *shape->last_bias, width, samples);
            for (int at = 0; at < DOTS && row + at < end; at++) out[row + at] = samples[at];
        }
    }
    end_phase(walk);
}

/* Whether nobody wants the rest: every thread gets the same answer. */
static int gone(Run *run, Team *team, int thread)
{
    if (!run->stale) return 0;
    if (thread == 0 && run->stale()) atomic_store(&run->stopped, 1);
    team_meet(team);
    return atomic_load(&run->stopped);
}

static void job(void *work, Team *team, int thread)
{
    Run *run = work;
    Codec *codec = run->codec;
    Walk walk = { team, run->turns, codec->scratch[thread], run, thread, 0 };
    const CodecShape *shape = &codec->shape;
    int samples = steps_before(shape, shape->blocks), last = state_of(shape->blocks);
    convolve(
        &walk, &shape->first, NULL, run->in, shape->steps * run->frames, run->past[0],
        run->next[0], codec->padded, codec->streams[0]);
    for (int at = 0; at < shape->wide; at++) {
        if (gone(run, team, thread)) return;
        run_block(
            &walk, at, codec->streams[at], run->frames, run->before, run->past,
            codec->streams[at + 1]);
    }
    for (int frame = 0; frame < run->frames; frame++) {
        if (gone(run, team, thread)) return;
        float *const *past = frame ? run->next : run->past;
        int rows = frame * steps_before(shape, shape->wide);
        const float *in
            = row_of(codec->streams[shape->wide], rows, channels_of(shape, shape->wide));
        for (int at = shape->wide; at < shape->blocks; at++) {
            run_block(&walk, at, in, 1, run->before + frame, past, codec->streams[at + 1]);
            in = codec->streams[at + 1];
        }
        make_samples(
            &walk, in, samples, past[last], run->next[last],
            run->out + (ptrdiff_t)frame * samples);
    }
}

int codec_run(
    Codec *codec, const float *in, int frames, long long before, float *const *past,
    float *const *next, float *out, int (*stale)(void))
{
    Run run = { codec, in, frames, before, past, next, out, stale, { { 0 } }, 0 };
    team_run(codec->team, job, &run);
    return atomic_load(&run.stopped);
}

/* --- memory ----------------------------------------------------------------------------------- */

static ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

/* Floats that the working memory of all layers needs: the largest of each kind. */
typedef struct { ptrdiff_t padded, planes, between; } Needs;

static void need_block(const CodecShape *shape, int at, Needs *needs)
{
    const Block *block = shape->block + at;
    int frames = at < shape->wide ? shape->frames : 1;
    ptrdiff_t rows = (ptrdiff_t)steps_before(shape, at) * frames;
    needs->padded = larger(needs->padded, (rows + 1) * block->spread.in);
    rows *= block->rate;
    for (int each = 0; each < CODEC_UNITS; each++) {
        int width = block->units[each].pairs.in, dilation = block->units[each].dilation;
        ptrdiff_t pairs = rows / 2 + (2 + BEFORE) * dilation;
        needs->planes = larger(needs->planes, PLANES * pairs * width);
        needs->between = larger(needs->between, rows * width);
    }
}

static Needs needs_of(const CodecShape *shape)
{
    const Product *first = &shape->first;
    ptrdiff_t samples = steps_before(shape, shape->blocks);
    Needs needs = { 0 };
    if (shape->wide == shape->blocks) samples *= shape->frames;
    needs.padded = larger(
        ((ptrdiff_t)shape->steps * shape->frames + first->taps) * first->in,
        (samples + KERNEL - 1 + DOTS) * channels_of(shape, shape->blocks));
    for (int at = 0; at < shape->blocks; at++) need_block(shape, at, &needs);
    return needs;
}

static ptrdiff_t stream_size(const CodecShape *shape, int at)
{
    int frames = at <= shape->wide ? shape->frames : 1;
    return (ptrdiff_t)steps_before(shape, at) * frames * channels_of(shape, at);
}

static ptrdiff_t scratch_size(const CodecShape *shape)
{
    ptrdiff_t size = SUMS * BLOCK_ROWS * PANEL;
    for (int at = 1; at <= shape->blocks; at++) size = larger(size, 2 * channels_of(shape, at));
    return size;
}

Codec *codec_new(const CodecShape *shape, Team *team)
{
    Codec *codec = calloc(1, sizeof *codec);
    Needs needs = needs_of(shape);
    ptrdiff_t scratch = scratch_size(shape), total = needs.padded + needs.planes + needs.between;
    float *place;
    if (!codec) return NULL;
    for (int at = 0; at <= shape->blocks; at++) total += stream_size(shape, at);
    total += scratch * team_threads(team);
    codec->shape = *shape;
    codec->team = team;
    codec->memory = place = weights_new((size_t)total * sizeof *place);
    codec->streams = calloc((size_t)shape->blocks + 1, sizeof *codec->streams);
    if (!codec->memory || !codec->streams) {
        codec_free(codec);
        return NULL;
    }
    codec->padded = place;
    codec->planes = place += needs.padded;
    codec->between = place += needs.planes;
    place += needs.between;
    for (int at = 0; at <= shape->blocks; at++) {
        codec->streams[at] = place;
        place += stream_size(shape, at);
    }
    for (int at = 0; at < team_threads(team); at++, place += scratch) codec->scratch[at] = place;
    return codec;
}

void codec_free(Codec *codec)
{
    if (!codec) return;
    weights_free(codec->memory);
    free(codec->streams);
    free(codec);
}
