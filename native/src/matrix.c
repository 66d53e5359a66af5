#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"
#include "simd_bytes.h"
#include "sizes.h"

/* SUPER: values of a super-block of the K-quants. AHEAD: bytes that products prefetch ahead, and
 * that lie allocated behind the weights for it. */
enum { LARGE_PAGE = 2 << 20, SUPER = 256, CACHE_LINE = 64, AHEAD = 3072 };

/* A block of values no larger than this times 127 is quantised to zeros: the inverse of its scale
 * would not be a finite number. */
static const float NOTHING = 1e-37f;

void *weights_new(size_t bytes, int zeroed)
{
    size_t most = plus(bytes, AHEAD + LARGE_PAGE - 1), whole = most / LARGE_PAGE * LARGE_PAGE;
    void *weights = most == NO_SIZE ? NULL : aligned_new(whole, LARGE_PAGE);
    if (weights && zeroed) memset(weights, 0, whole);
    return weights;
}

void weights_free(void *weights)
{
    aligned_free(weights);
}

static size_t block_bytes(int bits)
{
    return (size_t)(TILE * (BLOCK * bits / 8 + (bits == 4 ? 4 : 2)));
}

size_t matrix_bytes(int rows, int columns, int bits)
{
    if ((bits != 4 && bits != 8) || rows < 1 || rows > MOST_NUMBERS) return 0;
    if (!divides(BLOCK, columns) || columns > MOST_NUMBERS / MAX_ROWS) return 0;
    size_t blocks = times((size_t)columns / BLOCK, ((size_t)rows + TILE - 1) / TILE);
    size_t bytes = times(blocks, block_bytes(bits));
    return bytes == NO_SIZE ? 0 : bytes;
}

Matrix *matrix_new(int rows, int columns, int bits, uint8_t *data)
{
    if (!matrix_bytes(rows, columns, bits)) return NULL;
    Matrix *matrix = calloc(1, sizeof *matrix);
    if (!matrix) return NULL;
    matrix->rows = rows;
    matrix->columns = columns;
    matrix->bits = bits;
    matrix->block_bytes = block_bytes(bits);
    matrix->tile_bytes = matrix->block_bytes * (size_t)(columns / BLOCK);
    matrix->data = data;
    return matrix;
}

void matrix_free(Matrix *matrix)
{
    free(matrix);
}

static uint16_t read_half(const uint8_t *from)
{
    uint16_t half;
    memcpy(&half, from, sizeof half);
    return half;
}

/* --- filling ---------------------------------------------------------------------------------- */

/* One block of one row: unsigned integers, scale and offset (the latter of 4 bits only). */
static void put(Matrix *matrix, int row, int block, const uint8_t *u, float scale, float offset)
{
    int lane = row % TILE;
    uint8_t *at = matrix->data + (size_t)(row / TILE) * matrix->tile_bytes
                  + (size_t)block * matrix->block_bytes;
    uint16_t half = float_to_half(scale);
    if (matrix->bits == 8) {
        for (int in = 0; in < BLOCK; in++)
            at[in / GROUP * TILE * GROUP + lane * GROUP + in % GROUP] = u[in];
        memcpy(at + TILE * BLOCK + 2 * lane, &half, sizeof half);
        return;
    }
    for (int in = 0; in < BLOCK / 2; in++)
        at[in / GROUP * TILE * GROUP + lane * GROUP + in % GROUP]
            = (uint8_t)(u[in] | u[in + BLOCK / 2] << 4);
    memcpy(at + TILE * BLOCK / 2 + 2 * lane, &half, sizeof half);
    half = float_to_half(offset);
    memcpy(at + TILE * BLOCK / 2 + 2 * TILE + 2 * lane, &half, sizeof half);
}

/* Blocks of numbers, to nearest in 8 bits. */
static void put_numbers(Matrix *matrix, int row, int block, const float *values)
{
    uint8_t u[BLOCK];
    float most = 0;
    for (int in = 0; in < BLOCK; in++) most = fmaxf(most, fabsf(values[in]));
    float scale = half_to_float(float_to_half(most / 127));
    if (scale * 127 < most * 0.999f) scale = most / 127; /* below the smallest halves */
    float inverse = scale > NOTHING ? 1 / scale : 0;
    for (int in = 0; in < BLOCK; in++) {
        float nearest = rintf(values[in] * inverse);
        u[in] = (uint8_t)(128 + (int)fmaxf(-127, fminf(127, nearest)));
    }
    put(matrix, row, block, u, scale, 0);
}

void read_row(int type, const void *tensor, int row, int columns, float *to)
{
    size_t width = type == F32 ? 4 : 2;
    const uint8_t *from = (const uint8_t *)tensor + (size_t)row * (size_t)columns * width;
    for (int in = 0; in < columns; in++, from += width) {
        if (type == F32) {
            memcpy(to + in, from, 4);
        } else if (type == F16) {
            to[in] = half_to_float(read_half(from));
        } else {
            uint32_t bits = (uint32_t)read_half(from) << 16;
            memcpy(to + in, &bits, sizeof bits);
        }
    }
}

static void put_row_of_numbers(Matrix *matrix, int row, const uint8_t *raw, int type)
{
    float values[BLOCK];
    for (int block = 0; block < matrix->columns / BLOCK; block++) {
        read_row(type, raw, block, BLOCK, values);
        put_numbers(matrix, row, block, values);
    }
}

static void put_row_q8_0(Matrix *matrix, int row, const uint8_t *raw)
{
    for (int block = 0; block < matrix->columns / BLOCK; block++, raw += 2 + BLOCK) {
        uint8_t u[BLOCK];
        for (int in = 0; in < BLOCK; in++) u[in] = raw[2 + in] ^ 0x80; /* signed + 128 */
        put(matrix, row, block, u, half_to_float(read_half(raw)), 0);
    }
}

/* The 6-bit scale and minimum of sub-block `at` of eight, from the 12 bytes of a super-block. */
static void scale_and_minimum(const uint8_t *packed, int at, int *scale, int *minimum)
{
    if (at < 4) {
        *scale = packed[at] & 63;
        *minimum = packed[at + 4] & 63;
    } else {
        *scale = (packed[at + 4] & 15) | (packed[at - 4] >> 6) << 4;
        *minimum = packed[at + 4] >> 4 | (packed[at] >> 6) << 4;
    }
}

static void put_row_q4_or_q5_k(Matrix *matrix, int row, const uint8_t *raw, int type)
{
    size_t super_bytes = type == Q4_K ? 144 : 176;
    for (int super = 0; super < matrix->columns / SUPER; super++, raw += super_bytes) {
        float d = half_to_float(read_half(raw)), dmin = half_to_float(read_half(raw + 2));
        const uint8_t *high = raw + 16, *low = raw + (type == Q4_K ? 16 : 48);
        for (int sub = 0; sub < SUPER / BLOCK; sub++) {
            int scale, minimum;
            uint8_t u[BLOCK];
            float values[BLOCK];
            scale_and_minimum(raw + 4, sub, &scale, &minimum);
            for (int in = 0; in < BLOCK; in++) {
                u[in] = low[sub / 2 * BLOCK + in] >> (sub % 2 ? 4 : 0) & 15;
                if (type == Q5_K) u[in] |= (uint8_t)((high[in] >> sub & 1) << 4);
                values[in] = d * (float)scale * u[in] - dmin * (float)minimum;
            }
            int block = super * (SUPER / BLOCK) + sub;
            if (matrix->bits == 4)
                put(matrix, row, block, u, d * (float)scale, dmin * (float)minimum);
            else
                put_numbers(matrix, row, block, values);
        }
    }
}

static void put_row_q6_k(Matrix *matrix, int row, const uint8_t *raw)
{
    for (int super = 0; super < matrix->columns / SUPER; super++, raw += 210) {
        float d = half_to_float(read_half(raw + 208)), values[SUPER];
        for (int at = 0; at < SUPER; at++) {
            /* two halves of 128; in each, four runs of 32 share the bytes */
            int half = at / 128, run = at % 128 / 32, in = at % 32;
            uint8_t low = raw[64 * half + 32 * (run % 2) + in];
            uint8_t high = raw[128 + 32 * half + in];
            int value = ((run < 2 ? low & 15 : low >> 4) | (high >> 2 * run & 3) << 4) - 32;
            values[at] = d * (float)(int8_t)raw[192 + at / 16] * (float)value;
        }
        for (int sub = 0; sub < SUPER / BLOCK; sub++)
            put_numbers(matrix, row, super * (SUPER / BLOCK) + sub, values + BLOCK * sub);
    }
}

int matrix_fill(Matrix *matrix, int type, const uint8_t *raw, int first, int count)
{
    size_t columns = (size_t)matrix->columns;
    if (matrix->bits == 4 && type != Q4_K) return -1;
    if (first < 0 || count < 0 || count > matrix->rows - first) return -1;
    for (int row = first; row < first + count; row++) {
        switch (type) {
        case F32:
        case F16:
        case BF16:
            put_row_of_numbers(matrix, row, raw, type);
            raw += columns * (type == F32 ? 4 : 2);
            break;
        case Q8_0:
            put_row_q8_0(matrix, row, raw);
            raw += columns / BLOCK * (2 + BLOCK);
            break;
        case Q4_K:
        case Q5_K:
            put_row_q4_or_q5_k(matrix, row, raw, type);
            raw += columns / SUPER * (type == Q4_K ? 144 : 176);
            break;
        case Q6_K:
            put_row_q6_k(matrix, row, raw);
            raw += columns / SUPER * 210;
            break;
        default:
            return -1;
        }
    }
    return 0;
}

/* --- products --------------------------------------------------------------------------------- */

void quantise(Quantised *to, int row, const float *values)
{
    int blocks = to->columns / BLOCK;
    int8_t *bytes = to->bytes + (size_t)row * (size_t)to->columns;
    for (int block = 0; block < blocks; block++, values += BLOCK, bytes += BLOCK) {
        float most = 0;
        int32_t sum = 0;
#pragma omp simd reduction(max : most)
        for (int in = 0; in < BLOCK; in++) {
            float size = fabsf(values[in]);
            most = size > most ? size : most;
        }
        float inverse = most > 127 * NOTHING ? 127 / most : 0;
#pragma omp simd reduction(+ : sum)
        for (int in = 0; in < BLOCK; in++) {
            float whole = rintf(values[in] * inverse);
            whole = whole > -127 ? whole : -127; /* also what is no number */
            int8_t nearest = (int8_t)(int32_t)whole;
            bytes[in] = nearest;
            sum += nearest; /* of bytes, so that it cannot overflow whatever the values are */
        }
        float scale = most / 127;
        to->scales[row * blocks + block] = scale;
        to->sums[row * blocks + block] = sum;
        to->offsets[row * blocks + block] = -scale * (float)sum;
    }
}

/* Asks for memory that will soon be read; an address outside of any is no fault. */
INLINE void fetch(const uint8_t *from, int bytes)
{
    for (int at = 0; at < bytes; at += CACHE_LINE) __builtin_prefetch(from + at);
}

/* With vector instructions groups are written out in full, and rows too where there are registers
 * for all of their sums: with 16 of them a compiler keeps everything in memory instead. */
#if defined(WITH_AVX512)
#define EACH_GROUP(count) _Pragma("GCC unroll 8") for (int group = 0; group < (count); group++)
#define EACH_ROW _Pragma("GCC unroll 8") for (int row = 0; row < count; row++)
#elif defined(WITH_AVX2) || defined(WITH_NEON)
#define EACH_GROUP(count) _Pragma("GCC unroll 8") for (int group = 0; group < (count); group++)
#define EACH_ROW _Pragma("GCC unroll 1") for (int row = 0; row < count; row++)
#else
#define EACH_GROUP(count) for (int group = 0; group < (count); group++)
#define EACH_ROW for (int row = 0; row < count; row++)
#endif

/* Of a tile and some rows: float [PARTS][MAX_ROWS] vectors to out[row][TILE]. */
INLINE void store_totals(floats (*total)[MAX_ROWS], const int count, float *out)
{
    for (int part = 0; part < PARTS; part++)
        EACH_ROW store(out + row * TILE + part * LANES, total[part][row]);
}

INLINE void product_8(
    const uint8_t *at, const Quantised *rows, int first, const int count, float *out)
{
    enum { GROUPS = BLOCK / GROUP };
    int columns = rows->columns, blocks = columns / BLOCK;
    const int8_t *signed_bytes = rows->bytes + (size_t)first * (size_t)columns;
    const float *scales = rows->scales + first * blocks;
    const int32_t *sums = rows->sums + first * blocks;
    floats total[PARTS][MAX_ROWS];
    for (int part = 0; part < PARTS; part++)
        EACH_ROW total[part][row] = all_floats(0);
    for (int block = 0; block < blocks; block++, at += TILE * (BLOCK + 2)) {
        fetch(at + AHEAD, TILE * (BLOCK + 2));
        for (int part = 0; part < PARTS; part++) {
            weights of[GROUPS];
            EACH_GROUP(GROUPS) of[group]
                = to_weights(load_bytes(at + (size_t)(group * TILE + part * LANES) * GROUP));
            floats scale = halves(at + TILE * BLOCK + 2 * part * LANES);
            EACH_ROW
            {
                const int8_t *x = signed_bytes + row * columns + block * BLOCK;
                ints sum = all_ints(-ZERO_POINT * sums[row * blocks + block]);
                EACH_GROUP(GROUPS) sum = dot_weights(sum, of[group], x + group * GROUP);
                total[part][row] = add_product(total[part][row], to_floats(sum),
                    scale * all_floats(scales[row * blocks + block]));
            }
        }
    }
    store_totals(total, count, out);
}

INLINE void product_4(
    const uint8_t *at, const Quantised *rows, int first, const int count, float *out)
{
    enum { GROUPS = BLOCK / GROUP / 2 };
    int columns = rows->columns, blocks = columns / BLOCK;
    const int8_t *signed_bytes = rows->bytes + (size_t)first * (size_t)columns;
    const float *scales = rows->scales + first * blocks;
    const float *offsets = rows->offsets + first * blocks;
    floats total[PARTS][MAX_ROWS];
    for (int part = 0; part < PARTS; part++)
        EACH_ROW total[part][row] = all_floats(0);
    for (int block = 0; block < blocks; block++, at += TILE * (BLOCK / 2 + 4)) {
        fetch(at + AHEAD, TILE * (BLOCK / 2 + 4));
        for (int part = 0; part < PARTS; part++) {
            bytes low[GROUPS], high[GROUPS];
            EACH_GROUP(GROUPS)
            {
                bytes both = load_bytes(at + (size_t)(group * TILE + part * LANES) * GROUP);
                low[group] = low_nibbles(both);
                high[group] = high_nibbles(both);
            }
            floats scale = halves(at + TILE * BLOCK / 2 + 2 * part * LANES);
            floats offset = halves(at + TILE * BLOCK / 2 + 2 * TILE + 2 * part * LANES);
            EACH_ROW
            {
                const int8_t *x = signed_bytes + row * columns + block * BLOCK;
                pairs sum = no_pairs();
                EACH_GROUP(GROUPS)
                {
                    sum = dot_nibbles(sum, low[group], x + group * GROUP);
                    sum = dot_nibbles(sum, high[group], x + BLOCK / 2 + group * GROUP);
                }
                total[part][row] = add_product(total[part][row], to_floats(sum_pairs(sum)),
                    scale * all_floats(scales[row * blocks + block]));
                total[part][row] = add_product(
                    total[part][row], offset, all_floats(offsets[row * blocks + block]));
            }
        }
    }
    store_totals(total, count, out);
}

#if defined(WITH_AVX2)

/* Rows go through in fours where there are as many: their sums of all sixteen rows of weights stay in
 * registers, and what is broadcast or unpacked is used more than once
 * (docs/decisions/qwen3-prefill.md). */
enum { TOGETHER = 4 };
#define EACH_TOGETHER UNROLLED for (int row = 0; row < TOGETHER; row++)
#define EACH_PART UNROLLED for (int part = 0; part < PARTS; part++)

/* A compiler that adds up products first has no registers left for the sums. */
#define IN_ORDER(value) __asm__("" : "+x"(value))

INLINE void product_8_together(const uint8_t *at, const Quantised *rows, int first, float *out)
{
    enum { GROUPS = BLOCK / GROUP };
    int columns = rows->columns, blocks = columns / BLOCK;
    const int8_t *x = rows->bytes + (size_t)first * (size_t)columns;
    const float *scales = rows->scales + first * blocks;
    const int32_t *sums = rows->sums + first * blocks;
    floats total[PARTS][TOGETHER];
    EACH_PART EACH_TOGETHER total[part][row] = all_floats(0);
    for (int block = 0; block < blocks; block++, at += TILE * (BLOCK + 2), x += BLOCK) {
        ints sum[PARTS][TOGETHER];
        fetch(at + AHEAD, TILE * (BLOCK + 2));
        EACH_TOGETHER EACH_PART sum[part][row] = all_ints(-ZERO_POINT * sums[row * blocks + block]);
        EACH_GROUP(GROUPS)
        {
            weights of[PARTS];
            EACH_PART of[part]
                = to_weights(load_bytes(at + (size_t)(group * TILE + part * LANES) * GROUP));
            EACH_TOGETHER EACH_PART
            {
                sum[part][row]
                    = dot_weights(sum[part][row], of[part], x + row * columns + group * GROUP);
                IN_ORDER(sum[part][row]);
            }
        }
        EACH_PART
        {
            floats scale = halves(at + TILE * BLOCK + 2 * part * LANES);
            EACH_TOGETHER total[part][row] = add_product(total[part][row],
                to_floats(sum[part][row]), scale * all_floats(scales[row * blocks + block]));
        }
    }
    EACH_PART EACH_TOGETHER store(out + row * TILE + part * LANES, total[part][row]);
}

INLINE void add_nibbles(pairs sum[PARTS], const bytes of[PARTS], const int8_t *four)
{
    EACH_PART
    {
        sum[part] = dot_nibbles(sum[part], of[part], four);
        IN_ORDER(sum[part]);
    }
}

INLINE void product_4_together(const uint8_t *at, const Quantised *rows, int first, float *out)
{
    enum { GROUPS = BLOCK / GROUP / 2 };
    int columns = rows->columns, blocks = columns / BLOCK;
    const int8_t *x = rows->bytes + (size_t)first * (size_t)columns;
    const float *scales = rows->scales + first * blocks;
    const float *offsets = rows->offsets + first * blocks;
    floats total[PARTS][TOGETHER];
    EACH_PART EACH_TOGETHER total[part][row] = all_floats(0);
    for (int block = 0; block < blocks; block++, at += TILE * (BLOCK / 2 + 4), x += BLOCK) {
        pairs sum[TOGETHER][PARTS];
        fetch(at + AHEAD, TILE * (BLOCK / 2 + 4));
        EACH_PART EACH_TOGETHER sum[row][part] = no_pairs();
        EACH_GROUP(GROUPS)
        {
            const uint8_t *both = at + (size_t)(group * TILE * GROUP);
            const int8_t *four = x + group * GROUP;
            bytes of[PARTS];
            EACH_PART of[part] = low_nibbles(load_bytes(both + part * LANES * GROUP));
            EACH_TOGETHER add_nibbles(sum[row], of, four + row * columns);
            EACH_PART of[part] = high_nibbles(load_bytes(both + part * LANES * GROUP));
            EACH_TOGETHER add_nibbles(sum[row], of, four + BLOCK / 2 + row * columns);
        }
        EACH_PART
        {
            floats scale = halves(at + TILE * BLOCK / 2 + 2 * part * LANES);
            floats offset = halves(at + TILE * BLOCK / 2 + 2 * TILE + 2 * part * LANES);
            EACH_TOGETHER
            {
                total[part][row] = add_product(total[part][row], to_floats(sum_pairs(sum[row][part])),
                    scale * all_floats(scales[row * blocks + block]));
                total[part][row] = add_product(
                    total[part][row], offset, all_floats(offsets[row * blocks + block]));
            }
        }
    }
    EACH_PART EACH_TOGETHER store(out + row * TILE + part * LANES, total[part][row]);
}

static void products_together(const Matrix *matrix, const uint8_t *at, const Quantised *rows,
    int first, float *out)
{
    if (matrix->bits == 8)
        product_8_together(at, rows, first, out);
    else
        product_4_together(at, rows, first, out);
}

#endif

/* One copy a number of rows, so that all sums stay in registers. */
#define PRODUCT_OF(rows_of, product)                                                               \
    case rows_of: product(at, rows, first, rows_of, out); break
#if defined(WITH_AVX2) /* the others go through together */
#define MORE_THAN_THREE(product)
#else
#define MORE_THAN_THREE(product)                                                                   \
    PRODUCT_OF(4, product);                                                                        \
    PRODUCT_OF(5, product);                                                                        \
    PRODUCT_OF(6, product);                                                                        \
    PRODUCT_OF(7, product);                                                                        \
    PRODUCT_OF(8, product)
#endif
#define FOR_EACH_COUNT(product)                                                                    \
    switch (count) {                                                                               \
        PRODUCT_OF(1, product);                                                                    \
        PRODUCT_OF(2, product);                                                                    \
        PRODUCT_OF(3, product);                                                                    \
        MORE_THAN_THREE(product);                                                                  \
    }

void tile_product(
    const Matrix *matrix, int tile, const Quantised *rows, int first, int count, float *out)
{
    const uint8_t *at = matrix->data + (size_t)tile * matrix->tile_bytes;
#if defined(WITH_AVX2)
    for (; count >= TOGETHER; count -= TOGETHER, first += TOGETHER, out += TOGETHER * TILE)
        products_together(matrix, at, rows, first, out);
#endif
    if (matrix->bits == 8) {
        FOR_EACH_COUNT(product_8)
    } else {
        FOR_EACH_COUNT(product_4)
    }
}
