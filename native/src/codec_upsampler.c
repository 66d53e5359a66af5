#include "codec_upsampler.h"

#include <stdlib.h>
#include <string.h>

#include "codec_layers.h"
#include "codec_matmul.h"
#include "codec_tiles.h"
#include "codec_transposed.h"
#include "matrix.h"

enum { DOTS = 4 };

struct CodecUpsampler {
    CodecUpsamplerShape shape;
    ThreadPool *pool;
    float *memory;
    float **activations; /* the inputs of each block, and the output of the last */
    float *padded, *planes, *middle;
    float *scratch[MAX_THREADS];
};

/* One call, in phases: each begins when all threads have finished the phase in front of it. */
typedef struct {
    CodecUpsampler *upsampler;
    const float *in;
    int frames;
    long long position;
    float *const *state, *const *next_state;
    float *out;
    int (*stale)(void);
    WorkCounters counters[2];
    atomic_int stopped;
} Run;

static const Run *run_of(const Worker *worker)
{
    return worker->run;
}

static CodecUpsampler *upsampler_of(const Worker *worker)
{
    return run_of(worker)->upsampler;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* stream [frames * rows][width] += the residual unit of itself. */
static void residual(
    Worker *worker, const ResidualUnit *unit, float *stream, int rows, int frames,
    const float *history, float *next_history)
{
    const CodecUpsampler *upsampler = upsampler_of(worker);
    Tiles tiles = { .dilation = unit->dilation, .width = unit->winograd.in, .rows = rows,
        .frames = frames, .history = history, .in = stream, .activation = &unit->snake_in };
    tiles_place(&tiles, upsampler->planes);
    tiles_read(worker, &tiles);
    tiles_save_history(worker, &tiles, next_history);
    tiles_multiply(worker, &tiles, &unit->winograd, &unit->snake_middle, upsampler->middle);
    multiply(worker, &unit->pointwise, upsampler->middle, rows * frames, stream, 1);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Steps of a frame at the input of a block, or at the output of the last. */
static int steps_into(const CodecUpsamplerShape *shape, int block)
{
    int steps = shape->steps;
    for (int at = 0; at < block; at++) steps *= shape->block[at].stride;
    return steps;
}

/* Channels at the input of a block, or at the output of the last. */
static int channels_of(const CodecUpsamplerShape *shape, int block)
{
    return block ? shape->block[block - 1].units[0].winograd.in : shape->input.out;
}

/* The index of a block's first streaming state, or of the one behind the last block. */
static int state_index(int block)
{
    return 1 + (1 + RESIDUAL_UNITS) * block;
}

/* Block `at` on `frames` frames. */
static void run_block(
    Worker *worker, int at, const float *in, int frames, float *const *state, float *out)
{
    const CodecUpsamplerShape *shape = &upsampler_of(worker)->shape;
    const Block *block = shape->block + at;
    float *const *next_state = run_of(worker)->next_state;
    int steps = steps_into(shape, at), more = steps * block->stride, part = state_index(at);
    if (block->transposed.taps == TRANSPOSED_MATRICES)
        convolve_transposed(
            worker, &block->transposed, &block->snake_in, in, steps * frames, state[part],
            next_state[part], upsampler_of(worker)->planes, out);
    else
        convolve(
            worker, &block->transposed, &block->snake_in, in, steps * frames, state[part],
            next_state[part], upsampler_of(worker)->padded, out);
    for (int unit = 0; unit < RESIDUAL_UNITS; unit++) {
        part++;
        residual(
            worker, block->units + unit, out, more, frames, state[part], next_state[part]);
    }
}

/* DOTS samples from rows of `in`, 7 * width values each, `width` apart. */
static void dot_rows(const float *in, const float *weights, float bias, int width, float *out)
{
    floats sums[DOTS][PARTS] = { { { 0 } } };
    for (int at = 0; at < KERNEL * width; at += TILE) {
        UNROLLED
        for (int part = 0; part < PARTS; part++) {
            const float *values = in + at + part * LANES;
            floats weight = load(weights + at + part * LANES);
            UNROLLED
            for (int row = 0; row < DOTS; row++)
                sums[row][part] = add_product(sums[row][part], load(values + row * width), weight);
        }
    }
    for (int row = 0; row < DOTS; row++) {
        float sum = bias + sum_of(sums[row]);
        out[row] = sum < -1.0f ? -1.0f : sum > 1.0f ? 1.0f : sum;
    }
}

/* A phase or two: snake_out and the convolution to one channel. */
static void output_samples(
    Worker *worker, const float *in, int rows, const float *history, float *next_history,
    float *out)
{
    const CodecUpsampler *upsampler = upsampler_of(worker);
    const CodecUpsamplerShape *shape = &upsampler->shape;
    int width = channels_of(shape, shape->blocks), history_rows = KERNEL - 1, item;
    int items = ceil_div(rows, CHUNK);
    pad_rows(worker, history, history_rows, in, rows, width, &shape->snake_out, upsampler->padded);
    save_history(worker, row_of(upsampler->padded, rows, width), history_rows, width, next_history);
    while ((item = next_item(worker, items)) >= 0) {
        int row = item * CHUNK, end = row + CHUNK < rows ? row + CHUNK : rows;
        for (; row < end; row += DOTS) {
            float samples[DOTS];
            dot_rows(
                row_of(upsampler->padded, row, width), shape->output, *shape->output_bias, width,
                samples);
            for (int at = 0; at < DOTS && row + at < end; at++) out[row + at] = samples[at];
        }
    }
    end_phase(worker);
}

/* Whether the run is cancelled: every thread gets the same answer. */
static int cancelled(Run *run, ThreadPool *pool, int thread)
{
    if (!run->stale) return 0;
    if (thread == 0 && run->stale()) atomic_store(&run->stopped, 1);
    pool_barrier(pool);
    return atomic_load(&run->stopped);
}

static void job(void *work, ThreadPool *pool, int thread)
{
    Run *run = work;
    CodecUpsampler *upsampler = run->upsampler;
    Worker worker = { pool, run->counters, upsampler->scratch[thread], run, thread, 0 };
    const CodecUpsamplerShape *shape = &upsampler->shape;
    int samples = steps_into(shape, shape->blocks), last = state_index(shape->blocks);
    convolve(
        &worker, &shape->input, NULL, run->in, shape->steps * run->frames, run->state[0],
        run->next_state[0], upsampler->padded, upsampler->activations[0]);
    for (int at = 0; at < shape->batched_blocks; at++) {
        if (cancelled(run, pool, thread)) return;
        run_block(
            &worker, at, upsampler->activations[at], run->frames, run->state,
            upsampler->activations[at + 1]);
    }
    for (int frame = 0; frame < run->frames; frame++) {
        if (cancelled(run, pool, thread)) return;
        float *const *state = frame ? run->next_state : run->state;
        int rows = frame * steps_into(shape, shape->batched_blocks);
        const float *in
            = row_of(upsampler->activations[shape->batched_blocks], rows,
                channels_of(shape, shape->batched_blocks));
        for (int at = shape->batched_blocks; at < shape->blocks; at++) {
            run_block(&worker, at, in, 1, state, upsampler->activations[at + 1]);
            in = upsampler->activations[at + 1];
        }
        output_samples(
            &worker, in, samples, state[last], run->next_state[last],
            run->out + (ptrdiff_t)frame * samples);
    }
}

int codec_upsampler_run(
    CodecUpsampler *upsampler, const float *in, int frames, long long position, float *const *state,
    float *const *next_state, float *out, int (*stale)(void))
{
    Run run = { upsampler, in, frames, position, state, next_state, out, stale, { { 0 } }, 0 };
    if (frames < 1 || frames > upsampler->shape.frames || position < 0) return -1;
    int status = pool_run(upsampler->pool, job, &run);
    return status ? status : atomic_load(&run.stopped);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int is_block(const Block *block, int in, int steps)
{
    int width = block->units[0].winograd.in, taps = block->transposed.taps;
    if (taps != 2 && (taps != TRANSPOSED_MATRICES || steps % TRANSPOSED_STEPS)) return 0;
    if (block->stride < 1 || !is_of(&block->transposed, taps, in, (int64_t)block->stride * width))
        return 0;
    for (int at = 0; at < RESIDUAL_UNITS; at++) {
        const ResidualUnit *unit = block->units + at;
        if (unit->dilation < 1 || unit->dilation > MOST_NUMBERS / (KERNEL * CODEC_PAD)
            || !is_of(&unit->winograd, WINOGRAD_MATRICES, width, width)
            || !is_of(&unit->pointwise, 1, width, width))
            return 0;
    }
    return 1;
}

static int is_computed(const CodecUpsamplerShape *shape)
{
    const PackedWeights *input = &shape->input;
    size_t steps = times(size_of_count(shape->steps), size_of_count(shape->frames));
    if (shape->steps < 1 || shape->frames < 1 || shape->blocks < 1 || shape->batched_blocks < 0
        || shape->batched_blocks > shape->blocks || input->taps < 1
        || !is_of(input, input->taps, input->in, input->out))
        return 0;
    for (int at = 0; at < shape->blocks; at++) {
        if (steps == NO_SIZE /* too many for an `int`: they are not counted in one */
            || !is_block(shape->block + at, channels_of(shape, at), steps_into(shape, at)))
            return 0;
        steps = buffer_of(steps, size_of_count(shape->block[at].stride));
    }
    return steps != NO_SIZE;
}

/* Steps of so many frames at the input of a block, or at the output of the last. */
static size_t rows_into(const CodecUpsamplerShape *shape, int block, int frames)
{
    return times(size_of_count(steps_into(shape, block)), size_of_count(frames));
}

/* Sizes in floats of the buffers that all layers share: the largest of each kind. */
typedef struct { size_t padded, planes, middle; } BufferSizes;

static void add_block_sizes(const CodecUpsamplerShape *shape, int at, BufferSizes *sizes)
{
    const Block *block = shape->block + at;
    int frames = at < shape->batched_blocks ? shape->frames : 1;
    size_t rows = rows_into(shape, at, frames), width = size_of_count(block->units[0].winograd.in);
    sizes->padded
        = larger(sizes->padded, buffer_of(plus(rows, 1), size_of_count(block->transposed.in)));
    sizes->planes = larger(
        sizes->planes, transposed_floats(rows, size_of_count(block->transposed.in)));
    rows = times(rows, size_of_count(block->stride));
    for (int each = 0; each < RESIDUAL_UNITS; each++) {
        size_t dilation = size_of_count(block->units[each].dilation);
        sizes->planes = larger(sizes->planes, tiles_floats(rows, frames, dilation, width));
        sizes->middle = larger(sizes->middle, buffer_of(rows, width));
    }
}

static BufferSizes buffer_sizes(const CodecUpsamplerShape *shape)
{
    const PackedWeights *first = &shape->input;
    int frames = shape->batched_blocks == shape->blocks ? shape->frames : 1;
    size_t samples = rows_into(shape, shape->blocks, frames);
    size_t steps = rows_into(shape, 0, shape->frames);
    BufferSizes sizes = { 0 };
    sizes.padded = larger(
        buffer_of(plus(steps, size_of_count(first->taps)), size_of_count(first->in)),
        buffer_of(
            plus(samples, KERNEL - 1 + DOTS), size_of_count(channels_of(shape, shape->blocks))));
    for (int at = 0; at < shape->blocks; at++) add_block_sizes(shape, at, &sizes);
    return sizes;
}

static size_t stream_size(const CodecUpsamplerShape *shape, int at)
{
    int frames = at <= shape->batched_blocks ? shape->frames : 1;
    return buffer_of(rows_into(shape, at, frames), size_of_count(channels_of(shape, at)));
}

static size_t scratch_size(const CodecUpsamplerShape *shape)
{
    size_t size = 0;
    for (int at = 0; at <= shape->blocks; at++) {
        size_t width = size_of_count(channels_of(shape, at));
        size = larger(size, larger(tiles_scratch(width), transposed_scratch(width)));
    }
    return size;
}

CodecUpsampler *codec_upsampler_new(const CodecUpsamplerShape *shape, ThreadPool *pool)
{
    CodecUpsampler *upsampler = is_computed(shape) ? calloc(1, sizeof *upsampler) : NULL;
    if (!upsampler) return NULL;
    BufferSizes sizes = buffer_sizes(shape);
    size_t scratch = scratch_size(shape), total = plus(sizes.padded, sizes.planes);
    float *free_floats;
    total = plus(total, sizes.middle);
    for (int at = 0; at <= shape->blocks; at++) total = plus(total, stream_size(shape, at));
    total = plus(total, times(scratch, size_of_count(pool_threads(pool))));
    upsampler->shape = *shape;
    upsampler->pool = pool_take(pool);
    upsampler->memory = free_floats = weights_new(times(total, sizeof *free_floats), 1);
    upsampler->activations
        = zeros_of(plus(size_of_count(shape->blocks), 1), sizeof *upsampler->activations);
    if (!upsampler->memory || !upsampler->activations) {
        codec_upsampler_free(upsampler);
        return NULL;
    }
    upsampler->padded = free_floats;
    upsampler->planes = free_floats += sizes.padded;
    upsampler->middle = free_floats += sizes.planes;
    free_floats += sizes.middle;
    for (int at = 0; at <= shape->blocks; at++) {
        upsampler->activations[at] = free_floats;
        free_floats += stream_size(shape, at);
    }
    for (int at = 0; at < pool_threads(pool); at++, free_floats += scratch)
        upsampler->scratch[at] = free_floats;
    return upsampler;
}

void codec_upsampler_free(CodecUpsampler *upsampler)
{
    if (!upsampler) return;
    pool_free(upsampler->pool);
    weights_free(upsampler->memory);
    free(upsampler->activations);
    free(upsampler);
}
