#include "codec_tiles.h"

#include <string.h>

#include "codec_matmul.h"

/* POINTS: seven. FRONT: taps of the first polynomial. AHEAD: steps that a tile sees before its own.
 * RING: those that are kept while a phase is read (a tile
 * of three sees nine, but not at once). TILE_ROWS: tiles of a work item of the products,
 * whose sums take 43 KB. */
enum {
    POINTS = 7,
    FRONT = 4,
    AHEAD = KERNEL - 1,
    RING = 8,
    TILES_PER_ITEM = 16,
    TILE_ROWS = 32,
};

/* Tiles of so many steps: how many products there are of the taps in front and of those behind, and at
 * which points, of those in codec_tiles.h. */
typedef struct { int steps, front, back, points[POINTS]; } Kind;
static const Kind kinds[TILE_KINDS] = {
    { 4, 7, 6, { 0, 1, 2, 3, 4, 5, 6 } },
    { 3, 6, 5, { 0, 1, 2, 3, 4, 6 } },
    { 2, 5, 4, { 0, 1, 2, 3, 6 } },
    { 1, 4, 3, { 0, 1, 2, 6 } },
};

/* Tiles of each kind in a phase. */
static void count_phase(const Tiles *tiles, int phase, int count[TILE_KINDS])
{
    int steps = ceil_div(tiles->rows - phase, tiles->dilation);
    for (int kind = 0; kind < TILE_KINDS; kind++) {
        count[kind] = steps > 0 ? steps / kinds[kind].steps : 0;
        steps -= count[kind] * kinds[kind].steps;
    }
}

static void count_tiles(Tiles *tiles)
{
    for (int kind = 0; kind < TILE_KINDS; kind++) {
        tiles->tiles[kind] = 0;
        tiles->from[kind] = -1;
    }
    for (int phase = 0; phase < tiles->dilation; phase++) {
        int count[TILE_KINDS];
        count_phase(tiles, phase, count);
        for (int kind = 0; kind < TILE_KINDS; kind++) {
            tiles->tiles[kind] += count[kind];
            if (count[kind] && tiles->from[kind] < 0) tiles->from[kind] = phase;
        }
    }
}

/* Tiles of a frame that planes of the first kind have: what a tile sees behind its tap 4 is what the
 * next one of its phase sees in front of it. */
static int plane_tiles(const Tiles *tiles, int kind)
{
    return tiles->tiles[kind] + (kind ? 0 : tiles->dilation);
}

size_t tiles_floats(size_t rows, int frames, size_t dilation, size_t width)
{
    size_t each = times(size_of_count(frames), dilation);
    size_t planes = plus(times(POINTS, plus(rows / 4, each)), times(4 * POINTS, each));
    return buffer_of(planes, width);
}

size_t tiles_scratch(size_t width)
{
    return larger(POINTS * TILE_ROWS * PANEL, times(RING, width));
}

static ptrdiff_t plane_floats(const Tiles *tiles, int kind)
{
    int planes = kind ? kinds[kind].front + kinds[kind].back : POINTS;
    return (ptrdiff_t)planes * plane_tiles(tiles, kind) * tiles->frames * tiles->width;
}

void tiles_place(Tiles *tiles, float *planes)
{
    count_tiles(tiles);
    for (int kind = 0; kind < TILE_KINDS; kind++) {
        tiles->planes[kind] = planes;
        planes += plane_floats(tiles, kind);
    }
}

/* Values that product `product` of the front (or with `back` of the back) takes of a tile. */
static float *plane_row(
    const Tiles *tiles, int kind, int back, int product, int frame, int tile)
{
    int each = plane_tiles(tiles, kind), plane = product;
    if (back && kind) plane += kinds[kind].front;
    if (back && !kind) tile += tiles->dilation;
    ptrdiff_t row = ((ptrdiff_t)plane * tiles->frames + frame) * each + tile;
    return tiles->planes[kind] + row * tiles->width;
}

/* Step `at` of the call, which may be one of the history. */
static void read_step(const Tiles *tiles, int at, float *to)
{
    int history = AHEAD * tiles->dilation;
    if (at < 0)
        memcpy(to, row_of((float *)tiles->history, at + history, tiles->width),
            (size_t)tiles->width * sizeof *to);
    else
        snake_row(tiles->activation, tiles->in + (ptrdiff_t)at * tiles->width, tiles->width, to);
}

/* The steps of one phase of a frame as they are read one after the other: the newest RING of them. */
typedef struct { const Tiles *tiles; float *rows; int frame, phase, next; } Ring;

static float *ring_row(const Ring *ring, int step)
{
    return ring->rows + (ptrdiff_t)((step + AHEAD) % RING) * ring->tiles->width;
}

static void read_until(Ring *ring, int step)
{
    const Tiles *tiles = ring->tiles;
    for (; ring->next < step; ring->next++) {
        int at = ring->phase + ring->next * tiles->dilation;
        if (at < tiles->rows)
            read_step(tiles, ring->frame * tiles->rows + at, ring_row(ring, ring->next));
    }
}

/* Rows [POINTS] of a tile of four steps, which begins at step `first`; its last value is not asked for
 * where it would be one of the next frame. */
static void transform_four(const Ring *ring, int first, float *const *to)
{
    const float *d[POINTS];
    const floats four = all_floats(4), minus_four = all_floats(-4), minus_five = all_floats(-5);
    const floats minus_half = all_floats(-0.5f), two = all_floats(2), minus_two = all_floats(-2);
    for (int at = 0; at < POINTS; at++) d[at] = ring_row(ring, first + at);
    for (int at = 0; at < ring->tiles->width; at += LANES) {
        floats d1 = load(d[1] + at), d3 = load(d[3] + at), d5 = load(d[5] + at);
        floats d2 = load(d[2] + at), d4 = load(d[4] + at), e[6];
        e[0] = add_product(d1, minus_half, load(d[0] + at));
        e[1] = add_product(d2, minus_half, d1);
        e[2] = add_product(d3, minus_half, d2);
        e[3] = add_product(d4, minus_half, d3);
        e[4] = add_product(d5, minus_half, d4);
        e[5] = add_product(load(d[6] + at), minus_half, d5);
        floats odd = add_product(e[3], minus_four, e[1]), even = add_product(e[4], minus_four, e[2]);
        floats difference = e[3] - e[1], last = e[4] - e[2];
        store(to[0] + at, add_product(add_product(e[4], minus_five, e[2]), four, e[0]));
        store(to[1] + at, even + odd);
        store(to[2] + at, even - odd);
        store(to[3] + at, add_product(last, two, difference));
        store(to[4] + at, add_product(last, minus_two, difference));
        store(to[5] + at, add_product(add_product(d5, minus_five, d3), four, d1));
        store(to[6] + at, add_product(add_product(e[5], minus_five, e[3]), four, e[1]));
    }
}

/* The same of three steps, two and one: each product takes a sum of steps. */
static const float sums_of_steps[TILE_KINDS][POINTS][AHEAD] = {
    { { 0 } },
    { { -2, 0, 2.5f, 0, -0.5f }, { 0, -2, -2, 0.5f, 0.5f }, { 0, -6, 6, 1.5f, -1.5f },
        { 0, -3, -1.5f, 3, 1.5f }, { 0, -5, 2.5f, 5, -2.5f }, { 0, 4, 0, -5, 0, 1 } },
    { { -2, 1, 2, -1 }, { 0, -3, -1.5f, 1.5f }, { 0, -3, 4.5f, -1.5f }, { 0, -6, 0, 6 },
        { 0, 2, -1, -2, 1 } },
    { { -2, 0, 2 }, { 0, -1.5f, -1.5f }, { 0, -4.5f, 4.5f }, { 0, -1, 0, 1 } },
};

static void transform_few(const Ring *ring, int kind, int product, int first, float *to)
{
    const float *factors = sums_of_steps[kind][product];
    for (int at = 0; at < ring->tiles->width; at += LANES) {
        floats sum = all_floats(0);
        for (int step = 0; step < AHEAD; step++)
            if (factors[step] != 0)
                sum = add_product(
                    sum, all_floats(factors[step]), load(ring_row(ring, first + step) + at));
        store(to + at, sum);
    }
}

/* The tiles of a phase that are not of four steps; `step` is the first that is left. */
static void transform_rest(Ring *ring, const int count[TILE_KINDS], int step)
{
    for (int kind = 1; kind < TILE_KINDS; kind++) {
        int tile = ring->phase - ring->tiles->from[kind];
        if (!count[kind]) continue;
        read_until(ring, step);
        for (int product = 0; product < kinds[kind].front; product++)
            transform_few(ring, kind, product, step - AHEAD,
                plane_row(ring->tiles, kind, 0, product, ring->frame, tile));
        read_until(ring, step + kinds[kind].steps);
        for (int product = 0; product < kinds[kind].back; product++)
            transform_few(ring, kind, product, step - AHEAD + FRONT,
                plane_row(ring->tiles, kind, 1, product, ring->frame, tile));
        step += kinds[kind].steps;
    }
}

/* A work item is some tiles of one phase of a frame. */
void tiles_read(Worker *worker, const Tiles *tiles)
{
    int item, dilation = tiles->dilation;
    int most = ceil_div(ceil_div(tiles->rows, dilation), 4) + 1;
    int chunks = ceil_div(most, TILES_PER_ITEM), items = tiles->frames * chunks * dilation;
    while ((item = next_item(worker, items)) >= 0) {
        int phase = item % dilation, chunk = item / dilation % chunks, count[TILE_KINDS];
        count_phase(tiles, phase, count);
        int end = count[0] ? count[0] + 1 : 0, first = end * chunk / chunks;
        int last = end * (chunk + 1) / chunks;
        Ring ring = { tiles, worker->scratch, item / dilation / chunks, phase, 4 * first - AHEAD };
        for (int tile = first; tile < last; tile++) {
            float *to[POINTS];
            for (int point = 0; point < POINTS; point++)
                to[point] = plane_row(tiles, 0, 0, point, ring.frame, tile * dilation + phase);
            read_until(&ring, 4 * tile + 1);
            transform_four(&ring, 4 * tile - AHEAD, to);
        }
        if (chunk == chunks - 1) transform_rest(&ring, count, 4 * count[0]);
    }
    end_phase(worker);
}

/* Of a tile, its steps [4]. Returns how many. */
static int steps_of(const Tiles *tiles, int kind, int tile, int steps[4])
{
    int count[TILE_KINDS], phase = kind ? tiles->from[kind] + tile : tile % tiles->dilation;
    int first = 0;
    count_phase(tiles, phase, count);
    for (int each = 0; each < kind; each++) first += count[each] * kinds[each].steps;
    if (!kind) first = tile / tiles->dilation * kinds[kind].steps;
    for (int at = 0; at < kinds[kind].steps; at++)
        steps[at] = phase + (first + at) * tiles->dilation;
    return kinds[kind].steps;
}

/* The steps [4] of a tile from its sums, each `apart` from the next. */
INLINE void transform_back(const float *sums, ptrdiff_t apart, const int kind, floats y[4])
{
    floats s[POINTS];
    for (int at = 0; at < kinds[kind].front; at++) s[at] = load(sums + at * apart);
    if (kind == 0) {
        floats sum = s[1] + s[2], difference = s[1] - s[2];
        floats far_sum = s[3] + s[4], far_difference = s[3] - s[4];
        y[0] = ((s[0] + s[5]) + sum) + far_sum;
        y[1] = add_product(
            add_product(difference, all_floats(0.5f), s[5]), all_floats(2), far_difference);
        y[2] = add_product(add_product(sum, all_floats(0.25f), s[5]), all_floats(4), far_sum);
        y[3] = add_product(
            add_product(difference + s[6], all_floats(0.125f), s[5]), all_floats(8), far_difference);
    } else if (kind == 1) {
        floats sum = s[1] + s[2], difference = s[1] - s[2];
        floats far_sum = s[3] + s[4], far_difference = s[3] - s[4];
        y[0] = (s[0] + sum) + far_sum;
        y[1] = add_product(difference, all_floats(2), far_difference);
        y[2] = add_product(sum + s[5], all_floats(4), far_sum);
    } else if (kind == 2) {
        y[0] = (s[0] + s[3]) + (s[1] + s[2]);
        y[1] = add_product((s[1] - s[2]) + s[4], all_floats(2), s[3]);
    } else {
        y[0] = (s[0] + s[3]) + (s[1] + s[2]);
    }
}

/* What becomes of the sums of `count` tiles from `tile` on, counted over all frames: rows of `out`, from
 * column `column` on, with bias and Snake. */
typedef struct {
    const Tiles *tiles;
    const PackedWeights *weights;
    const Snake *activation;
    int column, tile, count;
    const float *sums;
    float *out;
} Finish;

INLINE void finish_tiles(const Finish *of, const int kind)
{
    const Tiles *tiles = of->tiles;
    int width = of->weights->out, left = width - of->column, columns = left < PANEL ? left : PANEL;
    for (int row = 0; row < of->count; row++) {
        int tile = of->tile + row, frame = tile / tiles->tiles[kind], steps[4];
        int many = steps_of(tiles, kind, tile % tiles->tiles[kind], steps);
        for (int at = 0; at < columns; at += LANES) {
            int column = of->column + at;
            floats frequency = load(of->activation->frequency + column);
            floats scale = load(of->activation->scale + column), y[4];
            floats bias = load(of->weights->bias + column);
            transform_back(of->sums + row * PANEL + at, TILE_ROWS * PANEL, kind, y);
            for (int step = 0; step < many; step++)
                store(
                    row_of(of->out + column, frame * tiles->rows + steps[step], width),
                    snake(y[step] + bias, frequency, scale));
        }
    }
}

/* Sums of `count` tiles from `first` on, counted over all frames. */
static void add_products(
    const Tiles *tiles, int kind, const float *weights, int first, int count, float *sums)
{
    int width = tiles->width, each = tiles->tiles[kind];
    ptrdiff_t matrix = (ptrdiff_t)width * PANEL;
    for (int product = 0; product < kinds[kind].front; product++)
        for (int back = 0; back <= (product < kinds[kind].back); back++) {
            int point = kinds[kind].points[product] + (back ? POINTS : 0);
            for (int done = 0, some; done < count; done += some) {
                int frame = (first + done) / each, tile = (first + done) % each;
                some = each - tile < count - done ? each - tile : count - done;
                add_product_rows(
                    plane_row(tiles, kind, back, product, frame, tile), width, some,
                    weights + point * matrix, width,
                    sums + ((ptrdiff_t)product * TILE_ROWS + done) * PANEL, !back);
            }
        }
}

void tiles_multiply(
    Worker *worker, const Tiles *tiles, const PackedWeights *weights, const Snake *activation,
    float *out)
{
    int width = tiles->width, panels = ceil_div(weights->out, PANEL), item;
    int blocks[TILE_KINDS], all = 0;
    float *sums = worker->scratch;
    for (int kind = 0; kind < TILE_KINDS; kind++) {
        blocks[kind] = ceil_div(tiles->tiles[kind] * tiles->frames, TILE_ROWS);
        all += blocks[kind];
    }
    while ((item = next_item(worker, panels * all)) >= 0) {
        int panel = item / all, block = item % all, kind = 0;
        while (block >= blocks[kind]) block -= blocks[kind++];
        int rows = tiles->tiles[kind] * tiles->frames;
        int first = (int)((int64_t)rows * block / blocks[kind]);
        int count = (int)((int64_t)rows * (block + 1) / blocks[kind]) - first;
        const float *of
            = weights->panels + (ptrdiff_t)panel * WINOGRAD_MATRICES * width * PANEL;
        Finish finish = { tiles, weights, activation, panel * PANEL, first, count, sums, out };
        add_products(tiles, kind, of, first, count, sums);
        switch (kind) {
        case 0: finish_tiles(&finish, 0); break;
        case 1: finish_tiles(&finish, 1); break;
        case 2: finish_tiles(&finish, 2); break;
        default: finish_tiles(&finish, 3); break;
        }
    }
    end_phase(worker);
}

/* One thread alone moves what stays of the history. */
void tiles_save_history(const Worker *worker, const Tiles *tiles, float *saved)
{
    int history = AHEAD * tiles->dilation, rows = tiles->rows * tiles->frames;
    int threads = rows < history ? 1 : pool_threads(worker->pool), thread = worker->thread;
    if (thread >= threads) return;
    for (int at = history * thread / threads; at < history * (thread + 1) / threads; at++)
        read_step(tiles, rows - history + at, row_of(saved, at, tiles->width));
}
