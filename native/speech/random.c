#include "random.h"

#include <math.h>
#include <string.h>

/* --- PCG64 (O'Neill, HMC-CS-2014-0905): a linear congruential generator of 128 bits, XSL-RR ---- */

static Wide product(Wide a, Wide b)
{
    uint64_t mask = 0xffffffffu, a0 = a.low & mask, a1 = a.low >> 32, b0 = b.low & mask,
             b1 = b.low >> 32, low = a0 * b0, middle = a1 * b0 + (low >> 32),
             other = a0 * b1 + (middle & mask);
    return (Wide) { a1 * b1 + (middle >> 32) + (other >> 32) + a.high * b.low + a.low * b.high,
        other << 32 | (low & mask) };
}

static Wide sum(Wide a, Wide b)
{
    Wide both = { a.high + b.high, a.low + b.low };
    both.high += both.low < a.low;
    return both;
}

static void step(Random *random)
{
    static const Wide multiplier = { 2549297995355413924u, 4865540595714422341u };
    random->state = sum(product(random->state, multiplier), random->increment);
}

static uint64_t next_64(Random *random)
{
    step(random);
    uint64_t mixed = random->state.high ^ random->state.low;
    unsigned turn = (unsigned)(random->state.high >> 58);
    return mixed >> turn | mixed << (-turn & 63);
}

static uint32_t next_32(Random *random)
{
    if (random->has_half) {
        random->has_half = 0;
        return random->half;
    }
    uint64_t next = next_64(random);
    random->half = (uint32_t)(next >> 32);
    random->has_half = 1;
    return (uint32_t)next;
}

/* Where the tail of the ziggurat begins, and the area of a layer. */
static const double LAST = 7.69711747013104972, AREA = 0.0039496598225815571993;

static void make_layers(Ziggurat *made)
{
    double edge = LAST, inner = LAST, first = AREA / exp(-LAST), scale = 0x1p23;
    made->limits[0] = (uint32_t)(LAST / first * scale);
    made->limits[1] = 0;
    made->widths[0] = (float)(first / scale);
    made->widths[LAYERS - 1] = (float)(LAST / scale);
    made->heights[0] = 1;
    made->heights[LAYERS - 1] = (float)exp(-LAST);
    for (int at = LAYERS - 2; at > 0; at--) {
        edge = -log(AREA / edge + exp(-edge));
        made->limits[at + 1] = (uint32_t)(edge / inner * scale);
        inner = edge;
        made->heights[at] = (float)exp(-edge);
        made->widths[at] = (float)(edge / scale);
    }
}

/* --- seeding: numpy's SeedSequence, after O'Neill's seed_seq_fe -------------------------------- */

enum { POOL = 4, STATE = 8, SHIFT = 16 };

static uint32_t hashed(uint32_t value, uint32_t *constant)
{
    value ^= *constant;
    *constant *= 0x931e8875u;
    value *= *constant;
    return value ^ value >> SHIFT;
}

static uint32_t mixed(uint32_t one, uint32_t other)
{
    uint32_t both = 0xca01f9ddu * one - 0x4973f715u * other;
    return both ^ both >> SHIFT;
}

/* A number in words of 32 bits, one at least; returns how many. */
static int words_of(uint64_t number, uint32_t *to)
{
    to[0] = (uint32_t)number;
    to[1] = (uint32_t)(number >> 32);
    return to[1] ? 2 : 1;
}

void random_seed(Random *random, uint64_t seed, uint64_t stream)
{
    uint32_t words[POOL] = { 0 }, pool[POOL], state[STATE], constant = 0x43b0d7e5u;
    words_of(stream, words + words_of(seed, words)); /* four at most: no more than the pool */
    for (int at = 0; at < POOL; at++) pool[at] = hashed(words[at], &constant);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++)
            if (from != to) pool[to] = mixed(pool[to], hashed(pool[from], &constant));
    constant = 0x8b51f9ddu;
    for (int at = 0; at < STATE; at++) {
        uint32_t value = pool[at % POOL] ^ constant;
        constant *= 0x58f38dedu;
        value *= constant;
        state[at] = value ^ value >> SHIFT;
    }
    uint64_t numbers[STATE / 2];
    for (int at = 0; at < STATE / 2; at++)
        numbers[at] = (uint64_t)state[2 * at + 1] << 32 | state[2 * at];
    Wide start = { numbers[0], numbers[1] };
    *random = (Random) { .increment = { numbers[2] << 1 | numbers[3] >> 63, numbers[3] << 1 | 1 } };
    step(random);
    random->state = sum(random->state, start);
    step(random);
    make_layers(&random->layers);
}

/* --- distributions ---------------------------------------------------------------------------- */

double random_uniform(Random *random)
{
    return (double)(next_64(random) >> 11) * 0x1p-53;
}

static float next_float(Random *random)
{
    return (float)(next_32(random) >> 8) * 0x1p-24f;
}

static float exponential(Random *random)
{
    const Ziggurat *layers = &random->layers;
    for (;;) {
        uint32_t bits = next_32(random) >> 1;
        int at = (int)(bits & 0xff);
        bits >>= 8;
        float x = (float)bits * layers->widths[at];
        if (bits < layers->limits[at]) return x;
        if (!at) return (float)LAST - log1pf(-next_float(random));
        float below = layers->heights[at - 1] - layers->heights[at];
        if (below * next_float(random) + layers->heights[at] < expf(-x)) return x;
    }
}

void random_exponentials(Random *random, float *to, int count)
{
    for (int at = 0; at < count; at++) to[at] = exponential(random);
}
