#include "transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "attention.h"
#include "platform.h"
#include "simd_bytes.h"
#include "sizes.h"

/* PHASES: parallel loops of a layer; each has work counters of its own. TILES_PER_ITEM: two tiles
 * of a matrix are one work item, so that taking an item costs little beside computing it. BATCH:
 * positions of one forward pass; a tile of weights is read once for all of them and stays in the
 * cache (docs/decisions/qwen3-prefill.md). */
enum { PHASES = 5, TILES_PER_ITEM = 2, BATCH = 32 };

/* What is multiplied with the weights. */
typedef struct {
    float *x;       /* [rows][hidden]: the residual stream */
    Quantised rows; /* its rows, or others, as they are multiplied */
} Activations;

/* Working memory of one thread. */
typedef struct {
    Activations own; /* of MAX_ROWS rows, the same in every thread */
    float *normed;   /* [hidden] */
    float *scores;   /* [capacity]: grows with the cache */
    int capacity;
} ThreadBuffers;

struct Transformer {
    Shape shape;
    Layer *layers;
    float *norm;
    int process; /* that made it */
    Lock lock;   /* of everything below: one forward pass at a time */
    ThreadPool *pool;
    ThreadBuffers buffers[MAX_THREADS];
    Activations shared; /* of BATCH rows */
    float *qkv;         /* [BATCH][(heads + 2 kv_heads) head_dim]: queries, keys, values */
    float *attended;    /* [BATCH][heads head_dim]: output of attention */
    float *gated;       /* [BATCH][intermediate] */
    float *added;       /* [BATCH][hidden]: what attention or feed-forward adds to x */
    atomic_int *counters; /* work counters [layers][PHASES][threads], allocated for MAX_THREADS */
};

struct KvCache {
    Shape shape;
    int capacity, length;
    stored *keys, *values; /* [layers][kv_heads][capacity][head_dim], keys rotated */
    float *cosines, *sines; /* [capacity][head_dim / 2] */
};

/* One forward pass of at most BATCH positions. */
typedef struct {
    Transformer *transformer;
    KvCache *cache;
    const float *in;
    float *out;
    int count;
} ForwardPass;

/* One thread's part of a pass: the rows `first` to `end` of all are normed and quantised by it. */
typedef struct {
    ThreadBuffers *buffers;
    float *x;
    Quantised rows;
    int first, end;
} Share;

const char *instructions(void)
{
    return INSTRUCTIONS;
}

/* --- memory ----------------------------------------------------------------------------------- */

static float *new_floats(size_t count)
{
    return zeros_of(count, sizeof(float));
}

static int new_activations(Activations *made, size_t count, size_t hidden, size_t columns)
{
    size_t bytes = buffer_of(count, columns), blocks = bytes == NO_SIZE ? NO_SIZE : bytes / BLOCK;
    made->x = new_floats(buffer_of(count, hidden));
    made->rows.bytes = zeros_of(bytes, 1);
    made->rows.scales = new_floats(blocks);
    made->rows.sums = zeros_of(blocks, sizeof(int32_t));
    made->rows.offsets = new_floats(blocks);
    return made->x && made->rows.bytes && made->rows.scales && made->rows.sums
           && made->rows.offsets;
}

static void free_activations(Activations *activations)
{
    free(activations->x);
    free(activations->rows.bytes);
    free(activations->rows.scales);
    free(activations->rows.sums);
    free(activations->rows.offsets);
}

/* What is computed: norms take whole tiles of a vector, products whole blocks. */
static int is_computed(const Shape *shape)
{
    enum { MOST_LAYERS = 1 << 16, HEAD_STEP = 64 };
    return shape->layers > 0 && shape->layers <= MOST_LAYERS && divides(BLOCK, shape->hidden)
           && divides(BLOCK, shape->intermediate) && divides(HEAD_STEP, shape->head_dim)
           && divides(shape->kv_heads, shape->heads);
}

/* Everything of a transformer whose shape is set, its counters and its buffers. Returns whether all
 * is there. */
static int allocate(Transformer *made)
{
    const Shape *shape = &made->shape;
    size_t hidden = size_of_count(shape->hidden), intermediate = size_of_count(shape->intermediate);
    size_t head = size_of_count(shape->head_dim), kv = times(size_of_count(shape->kv_heads), head);
    size_t inner = times(size_of_count(shape->heads), head);
    size_t widest = larger(larger(inner, intermediate), hidden);
    size_t layers = size_of_count(shape->layers);
    made->layers = zeros_of(layers, sizeof *made->layers);
    made->norm = new_floats(hidden);
    made->qkv = new_floats(buffer_of(BATCH, plus(inner, times(2, kv))));
    made->attended = new_floats(buffer_of(BATCH, inner));
    made->gated = new_floats(buffer_of(BATCH, intermediate));
    made->added = new_floats(buffer_of(BATCH, hidden));
    made->counters = zeros_of(buffer_of(layers, PHASES * MAX_THREADS), sizeof(atomic_int));
    int whole = made->layers && made->norm && made->qkv && made->attended && made->gated
                && made->added && made->counters
                && new_activations(&made->shared, BATCH, hidden, widest);
    for (int thread = 0; whole && thread < MAX_THREADS; thread++) {
        ThreadBuffers *buffers = made->buffers + thread;
        buffers->normed = new_floats(hidden);
        whole = buffers->normed && new_activations(&buffers->own, MAX_ROWS, hidden, widest);
    }
    return whole;
}

Transformer *transformer_new(
    const Shape *shape, const Layer *layers, const float *norm, ThreadPool *pool)
{
    Transformer *made = is_computed(shape) ? calloc(1, sizeof *made) : NULL;
    if (!made) return NULL;
    lock_new(&made->lock);
    made->shape = *shape;
    made->process = this_process();
    made->pool = pool_take(pool);
    if (!allocate(made)) {
        transformer_free(made);
        return NULL;
    }
    memcpy(made->layers, layers, (size_t)shape->layers * sizeof *layers);
    memcpy(made->norm, norm, (size_t)shape->hidden * sizeof *norm);
    return made;
}

void transformer_free(Transformer *transformer)
{
    if (!transformer) return;
    for (int thread = 0; thread < MAX_THREADS; thread++) {
        free(transformer->buffers[thread].normed);
        free(transformer->buffers[thread].scores);
        free_activations(&transformer->buffers[thread].own);
    }
    free_activations(&transformer->shared);
    free(transformer->layers);
    free(transformer->norm);
    free(transformer->qkv);
    free(transformer->attended);
    free(transformer->gated);
    free(transformer->added);
    free(transformer->counters);
    pool_free(transformer->pool);
    lock_free(&transformer->lock);
    free(transformer);
}

ThreadPool *transformer_take_pool(Transformer *transformer)
{
    if (transformer->process != this_process()) return NULL;
    lock_take(&transformer->lock);
    ThreadPool *pool = pool_take(transformer->pool);
    lock_give(&transformer->lock);
    return pool;
}

void transformer_use(Transformer *transformer, ThreadPool *pool)
{
    if (transformer->process != this_process()) return; /* it computes nothing here */
    lock_take(&transformer->lock);
    ThreadPool *old = transformer->pool;
    transformer->pool = pool_take(pool);
    lock_give(&transformer->lock);
    pool_free(old);
}

KvCache *cache_new(const Transformer *transformer, int capacity)
{
    const Shape *shape = &transformer->shape;
    KvCache *made = capacity > 0 ? calloc(1, sizeof *made) : NULL;
    if (!made) return NULL;
    int half = shape->head_dim / 2;
    size_t positions = size_of_count(capacity), angles = times(positions, (size_t)half);
    size_t heads = times((size_t)shape->layers, (size_t)shape->kv_heads);
    size_t values = times(times(heads, positions), (size_t)shape->head_dim);
    made->shape = *shape;
    made->capacity = capacity;
    made->keys = zeros_of(values, sizeof(stored));
    made->values = zeros_of(values, sizeof(stored));
    made->cosines = new_floats(angles);
    made->sines = new_floats(angles);
    float *frequencies = new_floats((size_t)half);
    if (!made->keys || !made->values || !made->cosines || !made->sines || !frequencies) {
        free(frequencies);
        cache_free(made);
        return NULL;
    }
    for (int at = 0; at < half; at++)
        frequencies[at] = (float)pow((double)shape->theta, -(double)at / half);
    for (int position = 0; position < capacity; position++) {
        size_t row = (size_t)position * (size_t)half;
        rope_of((float)position, frequencies, half, made->cosines + row, made->sines + row);
    }
    free(frequencies);
    return made;
}

void cache_free(KvCache *cache)
{
    if (!cache) return;
    free(cache->keys);
    free(cache->values);
    free(cache->cosines);
    free(cache->sines);
    free(cache);
}

int cache_length(const KvCache *cache)
{
    return cache->length;
}

void cache_rewind(KvCache *cache, int length)
{
    if (length >= 0 && length < cache->length) cache->length = length;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static void rms_norm(float *to, const float *from, const float *weight, int count, float epsilon)
{
    float scale = inverse_rms(from, count, epsilon);
    for (int at = 0; at < count; at++) to[at] = from[at] * scale * weight[at];
}

/* --- one forward pass ------------------------------------------------------------------------- */

static int tiles(const Matrix *matrix)
{
    return (matrix->rows + TILE - 1) / TILE;
}

/* Results [count][TILE] of tile `tile` of a matrix with so many rows into out [count][width]. */
static void keep_tile(
    const float *results, int tile, int matrix_rows, int count, float *out, int width)
{
    int first = tile * TILE, wanted = matrix_rows - first < TILE ? matrix_rows - first : TILE;
    for (int row = 0; row < count; row++)
        memcpy(out + (size_t)row * (size_t)width + first, results + row * TILE,
            (size_t)wanted * sizeof(float));
}

/* Tile `tile` of rows times matrix, of all `count` rows, into out [count][width]. */
static void multiply_tile(
    const Matrix *matrix, int tile, const Quantised *rows, int count, float *out, int width)
{
    float results[MAX_ROWS * TILE];
    for (int first = 0; first < count; first += MAX_ROWS) {
        int some = count - first < MAX_ROWS ? count - first : MAX_ROWS;
        tile_product(matrix, tile, rows, first, some, results);
        keep_tile(results, tile, matrix->rows, some, out + (size_t)first * (size_t)width, width);
    }
}

/* Up to three matrices, whose results lie side by side in `out`. */
static void multiply(ThreadPool *pool, atomic_int *counters, int thread,
    const Matrix *const *matrices, int matrix_count, const Quantised *rows, int count, float *out,
    int width)
{
    int items = 0, item, all = 0;
    for (int at = 0; at < matrix_count; at++) all += tiles(matrices[at]);
    items = (all + TILES_PER_ITEM - 1) / TILES_PER_ITEM;
    while ((item = pool_next_item(pool, counters, thread, items)) >= 0) {
        int end = (item + 1) * TILES_PER_ITEM < all ? (item + 1) * TILES_PER_ITEM : all;
        for (int tile = item * TILES_PER_ITEM; tile < end; tile++) {
            int at = 0, inside = tile, column = 0;
            while (inside >= tiles(matrices[at])) {
                inside -= tiles(matrices[at]);
                column += matrices[at++]->rows;
            }
            multiply_tile(matrices[at], inside, rows, count, out + column, width);
        }
    }
}

/* Gate and up projections, tile by tile: silu(gate) * up. */
static void multiply_gated(ThreadPool *pool, atomic_int *counters, int thread, const Layer *layer,
    const Quantised *rows, int count, float *out, int width)
{
    float gate[MAX_ROWS * TILE], up[MAX_ROWS * TILE];
    int tile;
    while ((tile = pool_next_item(pool, counters, thread, tiles(layer->gate))) >= 0) {
        for (int first = 0; first < count; first += MAX_ROWS) {
            int some = count - first < MAX_ROWS ? count - first : MAX_ROWS;
            tile_product(layer->gate, tile, rows, first, some, gate);
            tile_product(layer->up, tile, rows, first, some, up);
            for (int at = 0; at < some * TILE; at++)
                gate[at] = silu(gate[at]) * up[at];
            keep_tile(gate, tile, width, some, out + (size_t)first * (size_t)width, width);
        }
    }
}

static stored *cached(const KvCache *cache, stored *of, int layer, int head, int position)
{
    size_t rows = ((size_t)layer * (size_t)cache->shape.kv_heads + (size_t)head)
                      * (size_t)cache->capacity + (size_t)position;
    return of + rows * (size_t)cache->shape.head_dim;
}

static void store_cached(stored *to, const float *values, int count)
{
    for (int at = 0; at < count; at += LANES) narrow(to + at, load(values + at));
}

/* Everything of one key/value head: norms, rope, the cache, and its query heads' attention. */
static void attend_head(ForwardPass *pass, ThreadBuffers *buffers, int layer_at, int kv_head)
{
    Transformer *transformer = pass->transformer;
    KvCache *cache = pass->cache;
    const Shape *shape = &transformer->shape;
    const Layer *layer = transformer->layers + layer_at;
    int width = shape->head_dim, half = width / 2, group = shape->heads / shape->kv_heads;
    int qkv_width = (shape->heads + 2 * shape->kv_heads) * width;
    float scale = 1 / sqrtf((float)width);
    for (int row = 0; row < pass->count; row++) {
        float *from = transformer->qkv + (size_t)row * (size_t)qkv_width;
        int position = cache->length + row;
        const float *cosines = cache->cosines + (size_t)position * (size_t)half;
        const float *sines = cache->sines + (size_t)position * (size_t)half;
        float *key = from + (shape->heads + kv_head) * width;
        rms_norm(key, key, layer->key_norm, width, shape->epsilon);
        apply_rope(key, cosines, sines, half);
        store_cached(cached(cache, cache->keys, layer_at, kv_head, position), key, width);
        store_cached(cached(cache, cache->values, layer_at, kv_head, position),
            from + (shape->heads + shape->kv_heads + kv_head) * width, width);
        Stretch all = {
            { cached(cache, cache->keys, layer_at, kv_head, 0), width },
            { cached(cache, cache->values, layer_at, kv_head, 0), width }, position + 1 };
        Context context = { &all, 1, width, scale };
        for (int in = 0; in < group; in++) {
            float *query = from + (kv_head * group + in) * width;
            rms_norm(query, query, layer->query_norm, width, shape->epsilon);
            apply_rope(query, cosines, sines, half);
            attend_stored(&context, query, buffers->scores,
                transformer->attended
                    + (size_t)(row * shape->heads + kv_head * group + in) * (size_t)width);
        }
    }
}

/* A few rows every thread prepares for itself, all of them: that takes less time than a barrier.
 * Those of a prompt are shared out. */
static Share share_of(Transformer *transformer, int count, int thread)
{
    ThreadBuffers *buffers = transformer->buffers + thread;
    int threads = pool_threads(transformer->pool), few = count <= MAX_ROWS;
    const Activations *of = few ? &buffers->own : &transformer->shared;
    if (few) return (Share) { buffers, of->x, of->rows, 0, count };
    return (Share) { buffers, of->x, of->rows, count * thread / threads,
        count * (thread + 1) / threads };
}

/* All rows are prepared. */
static void meet(const ForwardPass *pass)
{
    if (pass->count > MAX_ROWS) pool_barrier(pass->transformer->pool);
}

/* Normalises rows of x into the rows to be multiplied. */
static void norm_and_quantise_rows(const ForwardPass *pass, Share *share, const float *weight)
{
    const Shape *shape = &pass->transformer->shape;
    share->rows.columns = shape->hidden;
    for (int row = share->first; row < share->end; row++) {
        rms_norm(share->buffers->normed, share->x + row * shape->hidden, weight, shape->hidden,
            shape->epsilon);
        quantise(&share->rows, row, share->buffers->normed);
    }
    meet(pass);
}

static void quantise_rows(const ForwardPass *pass, Share *share, const float *from, int columns)
{
    share->rows.columns = columns;
    for (int row = share->first; row < share->end; row++)
        quantise(&share->rows, row, from + (size_t)row * (size_t)columns);
    meet(pass);
}

static void add_residual(const ForwardPass *pass, const Share *share)
{
    int hidden = pass->transformer->shape.hidden;
    for (int at = share->first * hidden; at < share->end * hidden; at++)
        share->x[at] += pass->transformer->added[at];
}

static void run_forward_pass(void *work, ThreadPool *pool, int thread)
{
    ForwardPass *pass = work;
    Transformer *transformer = pass->transformer;
    const Shape *shape = &transformer->shape;
    Share share = share_of(transformer, pass->count, thread);
    const Quantised *rows = &share.rows;
    int count = pass->count, inner = shape->heads * shape->head_dim, threads = pool_threads(pool);
    int qkv_width = inner + 2 * shape->kv_heads * shape->head_dim, hidden = shape->hidden, head;
    memcpy(share.x + share.first * hidden, pass->in + share.first * hidden,
        (size_t)((share.end - share.first) * hidden) * sizeof(float));
    for (int at = 0; at < shape->layers; at++) {
        const Layer *layer = transformer->layers + at;
        atomic_int *counters = transformer->counters + (size_t)(at * PHASES * threads);
        const Matrix *inputs[] = { layer->query, layer->key, layer->value };
        norm_and_quantise_rows(pass, &share, layer->attention_norm);
        multiply(pool, counters, thread, inputs, 3, rows, count, transformer->qkv, qkv_width);
        pool_barrier(pool);
        while ((head = pool_next_item(pool, counters + threads, thread, shape->kv_heads)) >= 0)
            attend_head(pass, share.buffers, at, head);
        pool_barrier(pool);
        quantise_rows(pass, &share, transformer->attended, inner);
        multiply(pool, counters + 2 * threads, thread, &layer->out, 1, rows, count,
            transformer->added, hidden);
        pool_barrier(pool);
        add_residual(pass, &share);
        norm_and_quantise_rows(pass, &share, layer->mlp_norm);
        multiply_gated(pool, counters + 3 * threads, thread, layer, rows, count,
            transformer->gated, shape->intermediate);
        pool_barrier(pool);
        quantise_rows(pass, &share, transformer->gated, shape->intermediate);
        multiply(pool, counters + 4 * threads, thread, &layer->down, 1, rows, count,
            transformer->added, hidden);
        pool_barrier(pool);
        add_residual(pass, &share);
    }
    if (thread == 0 || count > MAX_ROWS)
        for (int row = share.first; row < share.end; row++)
            rms_norm(pass->out + row * hidden, share.x + row * hidden, transformer->norm,
                hidden, shape->epsilon);
}

static int grow_scores(Transformer *transformer, int capacity)
{
    for (int thread = 0; thread < pool_threads(transformer->pool); thread++) {
        ThreadBuffers *buffers = transformer->buffers + thread;
        if (buffers->capacity >= capacity) continue;
        float *scores = realloc(buffers->scores, times(size_of_count(capacity), sizeof *scores));
        if (!scores) return 0;
        buffers->scores = scores;
        buffers->capacity = capacity;
    }
    return 1;
}

/* Positions of the next pass, of `left`: passes are about as long, for a short one reads all weights
 * too. */
static int rows_of_pass(int left)
{
    enum { STEP = 4 }; /* what products take at once, or a part of it */
    int passes = (left + BATCH - 1) / BATCH, rows = (left + passes - 1) / passes;
    rows = (rows + STEP - 1) / STEP * STEP;
    return rows < left ? rows : left;
}

int transformer_forward(
    Transformer *transformer, KvCache *cache, const float *in, int count, float *out)
{
    const Shape *shape = &transformer->shape;
    int status = 0;
    if (transformer->process != this_process()) return FORKED; /* its lock may be held for ever */
    if (count < 0 || count > cache->capacity - cache->length) return -1;
    lock_take(&transformer->lock);
    if (!grow_scores(transformer, cache->capacity)) {
        lock_give(&transformer->lock);
        return -2;
    }
    for (int done = 0; done < count;) {
        int rows = rows_of_pass(count - done);
        size_t offset = (size_t)done * (size_t)shape->hidden;
        ForwardPass pass = { transformer, cache, in + offset, out + offset, rows };
        int counters = shape->layers * PHASES * pool_threads(transformer->pool);
        memset(transformer->counters, 0, (size_t)counters * sizeof(atomic_int));
        status = pool_run(transformer->pool, run_forward_pass, &pass);
        if (status) break;
        cache->length += rows;
        done += rows;
    }
    lock_give(&transformer->lock);
    return status;
}

/* --- single products -------------------------------------------------------------------------- */

typedef struct {
    const Matrix *const *matrices;
    const Quantised *rows; /* one of each matrix */
    int count;
    float *y;
    atomic_int counters[MAX_THREADS];
} Products;

static void run_products(void *work, ThreadPool *pool, int thread)
{
    Products *products = work;
    int each = tiles(products->matrices[0]), all = each * products->count, item;
    while ((item = pool_next_item(pool, products->counters, thread, all)) >= 0) {
        int at = item / each, rows = products->matrices[at]->rows;
        multiply_tile(products->matrices[at], item % each, products->rows + at, 1,
            products->y + (size_t)at * (size_t)rows, rows);
    }
}

int matrix_products(
    ThreadPool *pool, const Matrix *const *matrices, int count, const float *x, int row_each,
    float *y)
{
    if (!count) return 0;
    if (count < 0 || count > MAX_ROWS) return -1;
    int columns = matrices[0]->columns, blocks = columns / BLOCK, rows = row_each ? count : 1;
    size_t numbers = times(size_of_count(rows), size_of_count(blocks));
    Quantised all = { .columns = columns }, each[MAX_ROWS];
    all.scales = malloc(times(numbers, 2 * sizeof(float) + sizeof(int32_t) + BLOCK));
    if (!all.scales) return -1;
    all.offsets = all.scales + numbers;
    all.sums = (int32_t *)(all.offsets + numbers);
    all.bytes = (int8_t *)(all.sums + numbers);
    for (int row = 0; row < rows; row++)
        quantise(&all, row, x + (size_t)row * (size_t)columns);
    for (int at = 0; at < count; at++) {
        int row = row_each ? at : 0;
        each[at] = (Quantised) { all.bytes + (size_t)row * (size_t)columns,
            all.scales + row * blocks, all.sums + row * blocks, all.offsets + row * blocks,
            columns };
    }
    Products products = { .matrices = matrices, .rows = each, .count = count, .y = y };
    int status = pool_run(pool, run_products, &products);
    free(all.scales);
    return status;
}

int matrix_product(ThreadPool *pool, const Matrix *matrix, const float *x, float *y)
{
    return matrix_products(pool, &matrix, 1, x, 0, y);
}
