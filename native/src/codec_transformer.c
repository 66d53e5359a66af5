#include "codec_transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "attention.h"
#include "matrix.h"

enum { TAPS = 7, COLUMNS = 128 /* of a work item of elementwise functions */ };

struct CodecTransformer {
    CodecTransformerShape shape;
    ThreadPool *pool;
    float *memory;
    float *padded, *stream, *normed, *qkv, *attended, *gates, *inner, *steps[2], *rope;
    float *scratch[MAX_THREADS];
};

typedef struct {
    CodecTransformer *transformer;
    const float *in;
    int frames;
    long long position;
    float *const *state, *const *next_state;
    float *out;
    WorkCounters counters[2];
} Run;

/* A phase: out = each row of `in` divided by the root of its mean square. */
static void rms_normalise(
    Worker *worker, const float *in, int rows, int width, float epsilon, float *out)
{
    int row;
    while ((row = next_item(worker, rows)) >= 0) {
        const float *from = in + (ptrdiff_t)row * width;
        float *to = row_of(out, row, width);
        float scale = inverse_rms(from, width, epsilon);
        for (int at = 0; at < width; at += LANES)
            store(to + at, load(from + at) * all_floats(scale));
    }
    end_phase(worker);
}

/* --- attention -------------------------------------------------------------------------------- */

/* One head's keys or values: `old_rows` rows of the streaming state, then the new ones, `stride`
 * apart. */
typedef struct { const float *old, *fresh; int old_rows, stride, width; } HeadStream;

static const float *row_in(const HeadStream *rows, int row)
{
    if (row < rows->old_rows) return rows->old + (ptrdiff_t)row * rows->width;
    return rows->fresh + (ptrdiff_t)(row - rows->old_rows) * rows->stride;
}

/* Rows `first` up to `end`, as the two stretches of memory that they lie in. */
static void find_stretches(
    const HeadStream *keys, const HeadStream *values, int first, int end, Stretch stretches[2])
{
    int old = keys->old_rows, from = first < old ? first : old, fresh = first > old ? first : old;
    stretches[0] = (Stretch) {
        { keys->old + (ptrdiff_t)from * keys->width, keys->width },
        { values->old + (ptrdiff_t)from * values->width, values->width },
        (end < old ? end : old) - from,
    };
    stretches[1] = (Stretch) {
        { row_in(keys, fresh), keys->stride }, { row_in(values, fresh), values->stride },
        end - fresh,
    };
}

static void save_head_rows(const HeadStream *rows, int total, int saved, float *to)
{
    for (int row = 0; row < saved; row++)
        memcpy(
            row_of(to, row, rows->width), row_in(rows, total - saved + row),
            (size_t)rows->width * sizeof *to);
}

/* The rotary table of the new positions, cosines and then sines: [frames][head_dim]. */
static void compute_rope(const Run *run)
{
    const CodecTransformerShape *shape = &run->transformer->shape;
    int half = shape->head_dim / 2;
    for (int frame = 0; frame < run->frames; frame++) {
        float *rope = row_of(run->transformer->rope, frame, shape->head_dim);
        rope_of((float)(run->position + frame), shape->frequencies, half, rope, rope + half);
    }
}

/* A phase: attention of the new frames, whose queries, keys and values lie side by side; a work
 * item is a head. */
static void attend_heads(Worker *worker, int layer)
{
    const Run *run = worker->run;
    const CodecTransformer *transformer = run->transformer;
    const CodecTransformerShape *shape = &transformer->shape;
    int head, size = shape->head_dim, width = shape->heads * size, most = shape->window - 1;
    int old_rows = run->position < most ? (int)run->position : most, total = old_rows + run->frames;
    int saved = total < most ? total : most, key = 1 + 2 * layer;
    while ((head = next_item(worker, shape->heads)) >= 0) {
        float *fresh = transformer->qkv + head * size;
        ptrdiff_t at = (ptrdiff_t)head * old_rows * size, next_at = (ptrdiff_t)head * saved * size;
        HeadStream keys = { run->state[key] + at, fresh + width, old_rows, 3 * width, size };
        HeadStream values
            = { run->state[key + 1] + at, fresh + 2 * width, old_rows, 3 * width, size };
        for (int frame = 0; frame < run->frames; frame++) {
            const float *rope = transformer->rope + frame * size;
            float *query = row_of(fresh, frame, 3 * width);
            int end = old_rows + frame + 1, first = end > shape->window ? end - shape->window : 0;
            Stretch stretches[2];
            Context context = { stretches, 2, size, 1 }; /* the scale is in the matrix */
            apply_rope(query, rope, rope + size / 2, size / 2);
            apply_rope(query + width, rope, rope + size / 2, size / 2);
            find_stretches(&keys, &values, first, end, stretches);
            attend_floats(
                &context, query, worker->scratch,
                row_of(transformer->attended, frame, width) + head * size);
        }
        save_head_rows(&keys, total, saved, run->next_state[key] + next_at);
        save_head_rows(&values, total, saved, run->next_state[key + 1] + next_at);
    }
    end_phase(worker);
}

/* --- feed-forward ----------------------------------------------------------------------------- */

/* A phase: inner = gate / (1 + e^-gate) * up, gates [rows][2 * width] being gate and up. */
static void gate(Worker *worker, const float *gates, int rows, int width, float *inner)
{
    int item, chunks = ceil_div(width, COLUMNS);
    while ((item = next_item(worker, rows * chunks)) >= 0) {
        int row = item / chunks, at = item % chunks * COLUMNS;
        int end = at + COLUMNS < width ? at + COLUMNS : width;
        const float *left = gates + (ptrdiff_t)row * 2 * width, *right = left + width;
        float *to = row_of(inner, row, width);
        for (; at < end; at++) to[at] = silu(left[at]) * right[at];
    }
    end_phase(worker);
}

/* A phase: values = GELU of each, by the error function. */
static void gelu(Worker *worker, float *values, int rows, int width)
{
    int item, chunks = ceil_div(width, COLUMNS);
    while ((item = next_item(worker, rows * chunks)) >= 0) {
        int at = item % chunks * COLUMNS, end = at + COLUMNS < width ? at + COLUMNS : width;
        float *row = row_of(values, item / chunks, width);
        for (; at < end; at++) row[at] *= 0.5f + 0.5f * error_function(row[at] * 0.70710678f);
    }
    end_phase(worker);
}

static void transform(Worker *worker, int at)
{
    const Run *run = worker->run;
    const CodecTransformer *transformer = run->transformer;
    const CodecTransformerLayer *layer = transformer->shape.layer + at;
    int frames = run->frames, width = transformer->shape.input.out;
    float epsilon = transformer->shape.epsilon;
    rms_normalise(worker, transformer->stream, frames, width, epsilon, transformer->normed);
    multiply(worker, &layer->query_key_value, transformer->normed, frames, transformer->qkv, 0);
    attend_heads(worker, at);
    multiply(worker, &layer->out, transformer->attended, frames, transformer->stream, 1);
    rms_normalise(worker, transformer->stream, frames, width, epsilon, transformer->normed);
    multiply(worker, &layer->gate_up, transformer->normed, frames, transformer->gates, 0);
    gate(worker, transformer->gates, frames, layer->down.in, transformer->inner);
    multiply(worker, &layer->down, transformer->inner, frames, transformer->stream, 1);
}

/* --- upsampling ------------------------------------------------------------------------------- */

/* One step of the depthwise convolution, layer-normalised: mean 0, variance 1. */
static void depthwise_and_norm(const Upsample *upsample, const float *in, float epsilon, float *out)
{
    int width = upsample->up.in, part = 0;
    floats sums[PARTS] = { { 0 } }, squares[PARTS] = { { 0 } }, mean;
    for (int at = 0; at < width; at += LANES, part = (part + 1) % PARTS) {
        floats value = load(upsample->depthwise_bias + at);
        for (int tap = 0; tap < TAPS; tap++)
            value = add_product(
                value, load(in + tap * width + at), load(upsample->depthwise + tap * width + at));
        sums[part] = sums[part] + value;
        store(out + at, value);
    }
    mean = all_floats(sum_of(sums) / (float)width);
    for (int at = 0; at < width; at += LANES, part = (part + 1) % PARTS) {
        floats away = load(out + at) - mean;
        squares[part] = add_product(squares[part], away, away);
        store(out + at, away);
    }
    mean = all_floats(1 / sqrtf(sum_of(squares) / (float)width + epsilon));
    for (int at = 0; at < width; at += LANES) store(out + at, load(out + at) * mean);
}

/* out = the rows of `in` through the transposed convolution and the ConvNeXt block. */
static void run_upsample(Worker *worker, int at, const float *in, int rows, float *out)
{
    const Run *run = worker->run;
    const CodecTransformer *transformer = run->transformer;
    const Upsample *upsample = transformer->shape.upsample + at;
    int width = upsample->up.in, row, part = 1 + 2 * transformer->shape.layers + at;
    int steps = rows * (upsample->transposed.out / width);
    multiply(worker, &upsample->transposed, in, rows, out, 0);
    pad_rows(worker, run->state[part], TAPS - 1, out, steps, width, NULL, transformer->padded);
    save_history(
        worker, row_of(transformer->padded, steps, width), TAPS - 1, width, run->next_state[part]);
    while ((row = next_item(worker, steps)) >= 0)
        depthwise_and_norm(
            upsample, row_of(transformer->padded, row, width), transformer->shape.step_epsilon,
            row_of(transformer->normed, row, width));
    end_phase(worker);
    multiply(worker, &upsample->up, transformer->normed, steps, transformer->gates, 0);
    gelu(worker, transformer->gates, steps, upsample->up.out);
    multiply(worker, &upsample->down, transformer->gates, steps, out, 1);
}

static void job(void *work, ThreadPool *pool, int thread)
{
    Run *run = work;
    const CodecTransformer *transformer = run->transformer;
    const CodecTransformerShape *shape = &transformer->shape;
    Worker worker = { pool, run->counters, transformer->scratch[thread], run, thread, 0 };
    int rows = run->frames;
    const float *in = transformer->normed;
    if (thread == 0) compute_rope(run);
    convolve(
        &worker, &shape->input, NULL, run->in, rows, run->state[0], run->next_state[0],
        transformer->padded, transformer->stream);
    for (int layer = 0; layer < shape->layers; layer++) transform(&worker, layer);
    rms_normalise(
        &worker, transformer->stream, rows, shape->input.out, shape->epsilon, transformer->normed);
    for (int at = 0; at < shape->upsamples; at++) {
        const Upsample *upsample = shape->upsample + at;
        float *out = at + 1 < shape->upsamples ? transformer->steps[at % 2] : run->out;
        run_upsample(&worker, at, in, rows, out);
        rows *= upsample->transposed.out / upsample->up.in;
        in = out;
    }
}

int codec_transformer_run(
    CodecTransformer *transformer, const float *in, int frames, long long position,
    float *const *state, float *const *next_state, float *out)
{
    Run run = { transformer, in, frames, position, state, next_state, out, { { 0 } } };
    if (frames < 1 || frames > transformer->shape.frames || position < 0) return -1;
    return pool_run(transformer->pool, job, &run);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int are_layers(const CodecTransformerShape *shape)
{
    int64_t heads = (int64_t)shape->heads * shape->head_dim;
    int hidden = shape->input.out, width = hidden;
    if (heads > MOST_NUMBERS) return 0;
    for (int at = 0; at < shape->layers; at++) {
        const CodecTransformerLayer *layer = shape->layer + at;
        if (!is_of(&layer->query_key_value, 1, hidden, 3 * heads)
            || !is_of(&layer->out, 1, (int)heads, hidden)
            || !is_of(&layer->down, 1, shape->layer->down.in, hidden)
            || !is_of(&layer->gate_up, 1, hidden, 2 * (int64_t)layer->down.in))
            return 0;
    }
    for (int at = 0; at < shape->upsamples; at++) {
        const Upsample *upsample = shape->upsample + at;
        int before = width;
        width = upsample->up.in;
        if (!is_of(&upsample->transposed, 1, before, upsample->transposed.out)
            || !divides(width, upsample->transposed.out)
            || !is_of(&upsample->up, 1, width, upsample->up.out)
            || !is_of(&upsample->down, 1, upsample->up.out, width))
            return 0;
    }
    return 1;
}

static int is_computed(const CodecTransformerShape *shape)
{
    const PackedWeights *input = &shape->input;
    return shape->layers > 0 && shape->upsamples > 0 && shape->heads > 0 && shape->window > 0
           && shape->frames > 0 && input->taps > 0 && divides(CODEC_PAD, shape->head_dim)
           && is_of(input, input->taps, input->in, input->out) && are_layers(shape);
}

/* Lays the buffers out one behind the other in `memory` unless it is NULL; returns the floats that
 * they need together, or NO_SIZE. */
static size_t lay_out(CodecTransformer *transformer, float *memory)
{
    const CodecTransformerShape *shape = &transformer->shape;
    const PackedWeights *input = &shape->input;
    size_t frames = size_of_count(shape->frames), rows = frames, width = 0, wide = 0;
    size_t into = size_of_count(input->in), hidden = size_of_count(input->out);
    size_t head = size_of_count(shape->head_dim), heads = times(size_of_count(shape->heads), head);
    for (int at = 0; at < shape->upsamples; at++) {
        const Upsample *upsample = shape->upsample + at;
        width = larger(width, size_of_count(upsample->up.in));
        wide = larger(wide, size_of_count(upsample->up.out));
        rows = times(rows, size_of_count(upsample->transposed.out / upsample->up.in));
    }
    size_t first = buffer_of(plus(frames, size_of_count(input->taps)), into);
    struct { float **to; size_t size; } parts[] = {
        { &transformer->padded, larger(first, buffer_of(plus(rows, TAPS), width)) },
        { &transformer->stream, buffer_of(frames, hidden) },
        { &transformer->normed, larger(buffer_of(frames, hidden), buffer_of(rows, width)) },
        { &transformer->qkv, buffer_of(frames, times(3, heads)) },
        { &transformer->attended, buffer_of(frames, heads) },
        { &transformer->gates,
          larger(buffer_of(frames, size_of_count(shape->layer->gate_up.out)), buffer_of(rows, wide)) },
        { &transformer->inner, buffer_of(frames, size_of_count(shape->layer->down.in)) },
        { &transformer->steps[0], buffer_of(rows, width) },
        { &transformer->steps[1], buffer_of(rows, width) },
        { &transformer->rope, buffer_of(frames, head) },
    };
    size_t used = 0;
    size_t scratch = larger(BLOCK_ROWS * PANEL, buffer_of(size_of_count(shape->window), 1));
    for (size_t at = 0; at < sizeof parts / sizeof *parts; at++) {
        if (memory) *parts[at].to = memory + used;
        used = plus(used, parts[at].size);
        used = plus(used, (CODEC_PAD - used % CODEC_PAD) % CODEC_PAD);
    }
    for (int at = 0; at < pool_threads(transformer->pool); at++, used = plus(used, scratch))
        if (memory) transformer->scratch[at] = memory + used;
    return used;
}

CodecTransformer *codec_transformer_new(const CodecTransformerShape *shape, ThreadPool *pool)
{
    CodecTransformer *transformer = is_computed(shape) ? calloc(1, sizeof *transformer) : NULL;
    if (!transformer) return NULL;
    transformer->shape = *shape;
    transformer->pool = pool_take(pool);
    transformer->memory = weights_new(times(lay_out(transformer, NULL), sizeof(float)), 1);
    if (!transformer->memory) {
        codec_transformer_free(transformer);
        return NULL;
    }
    lay_out(transformer, transformer->memory);
    return transformer;
}

void codec_transformer_free(CodecTransformer *transformer)
{
    if (!transformer) return;
    pool_free(transformer->pool);
    weights_free(transformer->memory);
    free(transformer);
}
