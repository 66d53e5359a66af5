#define _GNU_SOURCE
#include "transformer.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simd.h"

enum { PHASES = 5, TILES_A_PIECE = 2, STRIP = 4 };

/* What a thread needs to itself. */
typedef struct {
    float *x;       /* [MAX_ROWS][hidden]: what runs through the layers, in every thread the same */
    float *normed;  /* [hidden] */
    float *scores;  /* [room]: grows with the cache */
    int room;
    Quantised rows; /* the rows to be multiplied */
} Own;

struct Decoder {
    Shape shape;
    Layer *layers;
    float *norm;
    Team *team;
    pthread_mutex_t lock; /* of everything below, for one forward at a time */
    Own own[MAX_THREADS];
    float *projected; /* [MAX_ROWS][(heads + 2 kv_heads) head_dim]: queries, keys, values */
    float *mixed;     /* [MAX_ROWS][heads head_dim]: what attention gives */
    float *gated;     /* [MAX_ROWS][intermediate] */
    float *added;     /* [MAX_ROWS][hidden]: what a layer's half adds */
    atomic_int *turns; /* [layers][PHASES][threads], with room for the most */
};

struct Cache {
    Shape shape;
    int room, length;
    stored *keys, *values; /* [layers][kv_heads][room][head_dim], keys rotated */
    float *cosines, *sines; /* [room][head_dim / 2] */
};

/* One forward of at most MAX_ROWS positions. */
typedef struct {
    Decoder *decoder;
    Cache *cache;
    const float *in;
    float *out;
    int count;
} Pass;

const char *instructions(void)
{
    return INSTRUCTIONS;
}

/* --- memory ----------------------------------------------------------------------------------- */

static float *new_floats(size_t count)
{
    return calloc(count ? count : 1, sizeof(float));
}

static int new_rows(Quantised *rows, int columns)
{
    rows->bytes = calloc(MAX_ROWS, (size_t)columns);
    rows->scales = new_floats((size_t)MAX_ROWS * (size_t)columns / BLOCK);
    rows->sums = calloc((size_t)MAX_ROWS * (size_t)columns / BLOCK, sizeof(int32_t));
    return rows->bytes && rows->scales && rows->sums;
}

static void free_rows(Quantised *rows)
{
    free(rows->bytes);
    free(rows->scales);
    free(rows->sums);
}

Decoder *decoder_new(const Shape *shape, const Layer *layers, const float *norm, Team *team)
{
    Decoder *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    int inner = shape->heads * shape->head_dim;
    int widest = inner > shape->intermediate ? inner : shape->intermediate;
    size_t joined = (size_t)(shape->heads + 2 * shape->kv_heads) * (size_t)shape->head_dim;
    size_t layer_bytes = (size_t)shape->layers * sizeof *layers;
    widest = widest > shape->hidden ? widest : shape->hidden;
    pthread_mutex_init(&made->lock, NULL);
    made->shape = *shape;
    made->team = team;
    made->layers = malloc(layer_bytes);
    made->norm = new_floats((size_t)shape->hidden);
    made->projected = new_floats(MAX_ROWS * joined);
    made->mixed = new_floats((size_t)MAX_ROWS * (size_t)inner);
    made->gated = new_floats((size_t)MAX_ROWS * (size_t)shape->intermediate);
    made->added = new_floats((size_t)MAX_ROWS * (size_t)shape->hidden);
    made->turns = calloc((size_t)(shape->layers * PHASES * MAX_THREADS), sizeof(atomic_int));
    int whole = made->layers && made->norm && made->projected && made->mixed && made->gated
                && made->added && made->turns;
    for (int thread = 0; thread < MAX_THREADS; thread++) {
        Own *own = made->own + thread;
        own->x = new_floats((size_t)MAX_ROWS * (size_t)shape->hidden);
        own->normed = new_floats((size_t)shape->hidden);
        whole = whole && own->x && own->normed && new_rows(&own->rows, widest);
    }
    if (!whole) {
        decoder_free(made);
        return NULL;
    }
    memcpy(made->layers, layers, layer_bytes);
    memcpy(made->norm, norm, (size_t)shape->hidden * sizeof(float));
    return made;
}

void decoder_free(Decoder *decoder)
{
    if (!decoder) return;
    for (int thread = 0; thread < MAX_THREADS; thread++) {
        free(decoder->own[thread].x);
        free(decoder->own[thread].normed);
        free(decoder->own[thread].scores);
        free_rows(&decoder->own[thread].rows);
    }
    free(decoder->layers);
    free(decoder->norm);
    free(decoder->projected);
    free(decoder->mixed);
    free(decoder->gated);
    free(decoder->added);
    free(decoder->turns);
    pthread_mutex_destroy(&decoder->lock);
    free(decoder);
}

Team *decoder_team(const Decoder *decoder)
{
    return decoder->team;
}

void decoder_use(Decoder *decoder, Team *team)
{
    pthread_mutex_lock(&decoder->lock);
    decoder->team = team;
    pthread_mutex_unlock(&decoder->lock);
}

Cache *cache_new(const Decoder *decoder, int room)
{
    const Shape *shape = &decoder->shape;
    Cache *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    int half = shape->head_dim / 2;
    size_t values = (size_t)shape->layers * (size_t)shape->kv_heads * (size_t)room
                    * (size_t)shape->head_dim;
    made->shape = *shape;
    made->room = room;
    made->keys = calloc(values, sizeof(stored));
    made->values = calloc(values, sizeof(stored));
    made->cosines = new_floats((size_t)room * (size_t)half);
    made->sines = new_floats((size_t)room * (size_t)half);
    if (!made->keys || !made->values || !made->cosines || !made->sines) {
        cache_free(made);
        return NULL;
    }
    for (int at = 0; at < half; at++) {
        float frequency = powf(shape->theta, -(float)at / (float)half);
        for (int position = 0; position < room; position++) {
            float angle = (float)position * frequency;
            made->cosines[position * half + at] = cosf(angle);
            made->sines[position * half + at] = sinf(angle);
        }
    }
    return made;
}

void cache_free(Cache *cache)
{
    if (!cache) return;
    free(cache->keys);
    free(cache->values);
    free(cache->cosines);
    free(cache->sines);
    free(cache);
}

int cache_length(const Cache *cache)
{
    return cache->length;
}

void cache_rewind(Cache *cache, int length)
{
    cache->length = length;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

/* e to the x, to a few units in the last place; vectorises where a library call would not. */
INLINE float exponential(float x)
{
    x = x < -87 ? -87 : x > 88 ? 88 : x;
    float turns = x * 1.44269504f + 12582912.f; /* rounds to a whole number */
    int32_t bits;
    memcpy(&bits, &turns, sizeof bits);
    float whole = turns - 12582912.f;
    float rest = x - whole * 0.693359375f + whole * 2.12194440e-4f;
    float value = 1.9875691500e-4f;
    value = value * rest + 1.3981999507e-3f;
    value = value * rest + 8.3334519073e-3f;
    value = value * rest + 4.1665795894e-2f;
    value = value * rest + 1.6666665459e-1f;
    value = value * rest + 5.0000001201e-1f;
    value = value * rest * rest + rest + 1;
    int32_t exponent = (bits - 0x4b400000 + 127) << 23;
    float scale;
    memcpy(&scale, &exponent, sizeof scale);
    return value * scale;
}

INLINE float inner_product(const float *a, const float *b, int count)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int at = 0; at < count; at++) sum += a[at] * b[at];
    return sum;
}

static void rms_norm(float *to, const float *from, const float *weight, int count, float epsilon)
{
    float scale = 1 / sqrtf(inner_product(from, from, count) / (float)count + epsilon);
    for (int at = 0; at < count; at++) to[at] = from[at] * scale * weight[at];
}

static void rotate(float *head, const float *cosines, const float *sines, int half)
{
    for (int at = 0; at < half; at++) {
        float first = head[at], second = head[half + at];
        head[at] = first * cosines[at] - second * sines[at];
        head[half + at] = second * cosines[at] + first * sines[at];
    }
}

/* --- one pass --------------------------------------------------------------------------------- */

static int tiles(const Matrix *matrix)
{
    return (matrix->rows + TILE - 1) / TILE;
}

/* Tile `tile` of rows times matrix into columns `from` and on of out [count][width]. */
static void multiply_tile(
    const Matrix *matrix, int tile, const Quantised *rows, int count, float *out, int width)
{
    float results[MAX_ROWS * TILE];
    int first = tile * TILE, wanted = matrix->rows - first < TILE ? matrix->rows - first : TILE;
    tile_product(matrix, tile, rows, count, results);
    for (int row = 0; row < count; row++)
        memcpy(out + (size_t)row * (size_t)width + first, results + row * TILE,
            (size_t)wanted * sizeof(float));
}

/* Pieces of up to three matrices that lie side by side in `out`. */
static void multiply(Team *team, atomic_int *turns, int thread, const Matrix *const *matrices,
    int matrix_count, const Quantised *rows, int count, float *out, int width)
{
    int pieces = 0, piece, all = 0;
    for (int at = 0; at < matrix_count; at++) all += tiles(matrices[at]);
    pieces = (all + TILES_A_PIECE - 1) / TILES_A_PIECE;
    while ((piece = team_next(team, turns, thread, pieces)) >= 0) {
        int end = (piece + 1) * TILES_A_PIECE < all ? (piece + 1) * TILES_A_PIECE : all;
        for (int tile = piece * TILES_A_PIECE; tile < end; tile++) {
            int at = 0, inside = tile, column = 0;
            while (inside >= tiles(matrices[at])) {
                inside -= tiles(matrices[at]);
                column += matrices[at++]->rows;
            }
            multiply_tile(matrices[at], inside, rows, count, out + column, width);
        }
    }
}

/* Gate and up tile by tile, joined at once: silu(gate) * up. */
static void multiply_gated(Team *team, atomic_int *turns, int thread, const Layer *layer,
    const Quantised *rows, int count, float *out, int width)
{
    float gate[MAX_ROWS * TILE], up[MAX_ROWS * TILE];
    int tile;
    while ((tile = team_next(team, turns, thread, tiles(layer->gate))) >= 0) {
        tile_product(layer->gate, tile, rows, count, gate);
        tile_product(layer->up, tile, rows, count, up);
        for (int at = 0; at < count * TILE; at++)
            gate[at] = gate[at] / (1 + exponential(-gate[at])) * up[at];
        int first = tile * TILE, wanted = width - first < TILE ? width - first : TILE;
        for (int row = 0; row < count; row++)
            memcpy(out + (size_t)row * (size_t)width + first, gate + row * TILE,
                (size_t)wanted * sizeof(float));
    }
}

static stored *cached(const Cache *cache, stored *of, int layer, int head, int position)
{
    size_t rows = ((size_t)layer * (size_t)cache->shape.kv_heads + (size_t)head)
                      * (size_t)cache->room + (size_t)position;
    return of + rows * (size_t)cache->shape.head_dim;
}

static void keep(stored *to, const float *values, int count)
{
    for (int at = 0; at < count; at += LANES) narrow(to + at, load_floats(values + at));
}

/* Scores of one query against every key it may see, as shares of one. */
static void score(const stored *key, int seen, int width, const float *query, float *scores)
{
    float scale = 1 / sqrtf((float)width), most = -INFINITY, sum = 0;
    for (int at = 0; at < seen; at++, key += width) {
        floats products = all_floats(0);
        for (int in = 0; in < width; in += LANES)
            products = add_product(products, load_floats(query + in), widen(key + in));
        scores[at] = sum_of(products) * scale;
        most = scores[at] > most ? scores[at] : most;
    }
#pragma omp simd reduction(+ : sum)
    for (int at = 0; at < seen; at++) {
        scores[at] = exponential(scores[at] - most);
        sum += scores[at];
    }
    for (int at = 0; at < seen; at++) scores[at] /= sum;
}

/* Values in shares: float [width], a multiple of STRIP vectors, as many as registers hold well. */
static void mix(const stored *values, int seen, int width, const float *shares, float *out)
{
    for (int in = 0; in < width; in += STRIP * LANES) {
        floats sums[STRIP];
        const stored *value = values + in;
        for (int part = 0; part < STRIP; part++) sums[part] = all_floats(0);
        for (int at = 0; at < seen; at++, value += width)
            for (int part = 0; part < STRIP; part++)
                sums[part] = add_product(
                    sums[part], all_floats(shares[at]), widen(value + part * LANES));
        for (int part = 0; part < STRIP; part++) store(out + in + part * LANES, sums[part]);
    }
}

/* Everything of one key/value head: norms, rotation, the cache, and its query heads' attention. */
static void attend_head(Pass *pass, Own *own, int layer_at, int kv_head)
{
    Decoder *decoder = pass->decoder;
    Cache *cache = pass->cache;
    const Shape *shape = &decoder->shape;
    const Layer *layer = decoder->layers + layer_at;
    int width = shape->head_dim, half = width / 2, share = shape->heads / shape->kv_heads;
    int joined = (shape->heads + 2 * shape->kv_heads) * width;
    for (int row = 0; row < pass->count; row++) {
        float *from = decoder->projected + (size_t)row * (size_t)joined;
        int position = cache->length + row;
        const float *cosines = cache->cosines + (size_t)position * (size_t)half;
        const float *sines = cache->sines + (size_t)position * (size_t)half;
        float *key = from + (shape->heads + kv_head) * width;
        rms_norm(key, key, layer->key_norm, width, shape->epsilon);
        rotate(key, cosines, sines, half);
        keep(cached(cache, cache->keys, layer_at, kv_head, position), key, width);
        keep(cached(cache, cache->values, layer_at, kv_head, position),
            from + (shape->heads + shape->kv_heads + kv_head) * width, width);
        for (int in = 0; in < share; in++) {
            float *query = from + (kv_head * share + in) * width;
            rms_norm(query, query, layer->query_norm, width, shape->epsilon);
            rotate(query, cosines, sines, half);
            score(cached(cache, cache->keys, layer_at, kv_head, 0), position + 1, width, query,
                own->scores);
            mix(cached(cache, cache->values, layer_at, kv_head, 0), position + 1, width,
                own->scores,
                decoder->mixed + (size_t)(row * shape->heads + kv_head * share + in) * (size_t)width);
        }
    }
}

/* Norms every row of x into the rows to be multiplied. */
static void norm_rows(Own *own, const float *weight, const Shape *shape, int count)
{
    own->rows.columns = shape->hidden;
    for (int row = 0; row < count; row++) {
        rms_norm(own->normed, own->x + row * shape->hidden, weight, shape->hidden, shape->epsilon);
        quantise(&own->rows, row, own->normed);
    }
}

static void take_rows(Own *own, const float *from, int columns, int count)
{
    own->rows.columns = columns;
    for (int row = 0; row < count; row++)
        quantise(&own->rows, row, from + (size_t)row * (size_t)columns);
}

static void add_rows(Own *own, const float *added, int values)
{
    for (int at = 0; at < values; at++) own->x[at] += added[at];
}

static void run_pass(void *work, Team *team, int thread)
{
    Pass *pass = work;
    Decoder *decoder = pass->decoder;
    const Shape *shape = &decoder->shape;
    Own *own = decoder->own + thread;
    int count = pass->count, inner = shape->heads * shape->head_dim, threads = team_threads(team);
    int joined = inner + 2 * shape->kv_heads * shape->head_dim, head;
    memcpy(own->x, pass->in, (size_t)(count * shape->hidden) * sizeof(float));
    for (int at = 0; at < shape->layers; at++) {
        const Layer *layer = decoder->layers + at;
        atomic_int *turns = decoder->turns + (size_t)(at * PHASES * threads);
        const Matrix *inputs[] = { layer->query, layer->key, layer->value };
        norm_rows(own, layer->attention_norm, shape, count);
        multiply(team, turns, thread, inputs, 3, &own->rows, count, decoder->projected, joined);
        team_meet(team);
        while ((head = team_next(team, turns + threads, thread, shape->kv_heads)) >= 0)
            attend_head(pass, own, at, head);
        team_meet(team);
        take_rows(own, decoder->mixed, inner, count);
        multiply(team, turns + 2 * threads, thread, &layer->out, 1, &own->rows, count,
            decoder->added, shape->hidden);
        team_meet(team);
        add_rows(own, decoder->added, count * shape->hidden);
        norm_rows(own, layer->mlp_norm, shape, count);
        multiply_gated(team, turns + 3 * threads, thread, layer, &own->rows, count,
            decoder->gated, shape->intermediate);
        team_meet(team);
        take_rows(own, decoder->gated, shape->intermediate, count);
        multiply(team, turns + 4 * threads, thread, &layer->down, 1, &own->rows, count,
            decoder->added, shape->hidden);
        team_meet(team);
        add_rows(own, decoder->added, count * shape->hidden);
    }
    if (thread == 0)
        for (int row = 0; row < count; row++)
            rms_norm(pass->out + row * shape->hidden, own->x + row * shape->hidden, decoder->norm,
                shape->hidden, shape->epsilon);
}

static int make_room(Decoder *decoder, int room)
{
    for (int thread = 0; thread < team_threads(decoder->team); thread++) {
        Own *own = decoder->own + thread;
        if (own->room >= room) continue;
        float *scores = realloc(own->scores, (size_t)room * sizeof(float));
        if (!scores) return 0;
        own->scores = scores;
        own->room = room;
    }
    return 1;
}

int decoder_forward(Decoder *decoder, Cache *cache, const float *in, int count, float *out)
{
    const Shape *shape = &decoder->shape;
    if (cache->length + count > cache->room) return -1;
    pthread_mutex_lock(&decoder->lock);
    if (!make_room(decoder, cache->room)) {
        pthread_mutex_unlock(&decoder->lock);
        return -2;
    }
    for (int done = 0; done < count;) {
        int rows = count - done < MAX_ROWS ? count - done : MAX_ROWS;
        size_t offset = (size_t)done * (size_t)shape->hidden;
        Pass pass = { decoder, cache, in + offset, out + offset, rows };
        memset(decoder->turns, 0,
            (size_t)(shape->layers * PHASES * team_threads(decoder->team)) * sizeof(atomic_int));
        team_run(decoder->team, run_pass, &pass);
        cache->length += rows;
        done += rows;
    }
    pthread_mutex_unlock(&decoder->lock);
    return 0;
}

/* --- single products ------------------------------------------------------------------------------ */

typedef struct {
    const Matrix *const *matrices;
    const Quantised *rows; /* one of each matrix */
    int count;
    float *y;
    atomic_int turns[MAX_THREADS];
} Products;

static void run_products(void *work, Team *team, int thread)
{
    Products *products = work;
    int each = tiles(products->matrices[0]), all = each * products->count, piece;
    while ((piece = team_next(team, products->turns, thread, all)) >= 0) {
        int at = piece / each, rows = products->matrices[at]->rows;
        multiply_tile(products->matrices[at], piece % each, products->rows + at, 1,
            products->y + (size_t)at * (size_t)rows, rows);
    }
}

void matrix_products(
    Team *team, const Matrix *const *matrices, int count, const float *x, int apart, float *y)
{
    int columns = matrices[0]->columns, blocks = columns / BLOCK;
    int8_t bytes[MAX_ROWS * columns];
    float scales[MAX_ROWS * blocks];
    int32_t sums[MAX_ROWS * blocks];
    Quantised all = { bytes, scales, sums, columns }, rows[MAX_ROWS];
    if (!count) return;
    for (int row = 0; row < (apart ? count : 1); row++)
        quantise(&all, row, x + (size_t)row * (size_t)columns);
    for (int at = 0; at < count; at++) {
        int row = apart ? at : 0;
        rows[at] = (Quantised) { bytes + row * columns, scales + row * blocks, sums + row * blocks,
            columns };
    }
    Products products = { .matrices = matrices, .rows = rows, .count = count, .y = y };
    team_run(team, run_products, &products);
}

void matrix_product(Team *team, const Matrix *matrix, const float *x, float *y)
{
    matrix_products(team, &matrix, 1, x, 0, y);
}
