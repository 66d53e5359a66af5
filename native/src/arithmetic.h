/* What transformers compute between their products, for the talker, the code predictor and the
 * codec. Loops without a sum are left to the compiler: their order does not matter. */
#ifndef S2S_ARITHMETIC_H
#define S2S_ARITHMETIC_H

#include <math.h>
#include <stddef.h>

#include "simd.h"

/* e to the x, to a few units in the last place (the polynomial of Cephes' expf); vectorises where a
 * library call would not. */
INLINE float exponential(float x)
{
    x = x < -87 ? -87 : x > 88 ? 88 : x;
    float shifted = x * 1.44269504f + 12582912.f; /* 1.5 * 2^23: rounds to a whole number */
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    float whole = shifted - 12582912.f;
    float rest = x - whole * 0.693359375f + whole * 2.12194440e-4f;
    float value = 1.9875691500e-4f;
    value = value * rest + 1.3981999507e-3f;
    value = value * rest + 8.3334519073e-3f;
    value = value * rest + 4.1665795894e-2f;
    value = value * rest + 1.6666665459e-1f;
    value = value * rest + 5.0000001201e-1f;
    value = value * rest * rest + rest + 1;
    uint32_t exponent = (bits - 0x4b400000u + 127u) << 23;
    float scale;
    memcpy(&scale, &exponent, sizeof scale);
    return value * scale;
}

/* x / (1 + e^-x) */
INLINE float silu(float x)
{
    return x / (1 + exponential(-x));
}

/* The error function to 1e-7: 1 - e^-P(|x|), P a fit of -log(1 - erf) on [0, 3.9]; what is missing
 * from one at 3.9 is less than that. */
INLINE float error_function(float x)
{
    float size = fabsf(x), sum = -8.0436466e-6f;
    size = size < 3.9f ? size : 3.9f;
    sum = sum * size + 1.0602511e-4f;
    sum = sum * size + -5.8794522e-4f;
    sum = sum * size + 1.57675007e-3f;
    sum = sum * size + -5.8771053e-5f;
    sum = sum * size + -1.92171484e-2f;
    sum = sum * size + 1.02799214e-1f;
    sum = sum * size + 6.3661611e-1f;
    sum = sum * size + 1.12837934f;
    return copysignf(1 - exponential(-sum * size), x);
}

/* count: a multiple of TILE. */
INLINE float inner_product(const float *a, const float *b, int count)
{
    floats sums[PARTS];
    for (int part = 0; part < PARTS; part++) sums[part] = all_floats(0);
    for (int at = 0; at < count; at += TILE) {
        UNROLLED
        for (int part = 0; part < PARTS; part++)
            sums[part] = add_product(
                sums[part], load(a + at + part * LANES), load(b + at + part * LANES));
    }
    return sum_of(sums);
}

/* The inverse of the root of the mean square of values [count], a multiple of TILE. */
INLINE float inverse_rms(const float *values, int count, float epsilon)
{
    return 1 / sqrtf(inner_product(values, values, count) / (float)count + epsilon);
}

/* Rotary position by halves, of one head: float [2 * half]. cosines, sines: [half]. */
INLINE void apply_rope(float *head, const float *cosines, const float *sines, int half)
{
    for (int at = 0; at < half; at++) {
        float first = head[at], second = head[half + at];
        head[at] = first * cosines[at] - second * sines[at];
        head[half + at] = second * cosines[at] + first * sines[at];
    }
}

/* Cosines and sines [half] of a position; in double precision, in which libraries differ by less
 * than is left after rounding. */
INLINE void rope_of(float position, const float *frequencies, int half, float *cosines, float *sines)
{
    for (int at = 0; at < half; at++) {
        double angle = (double)(position * frequencies[at]);
        cosines[at] = (float)cos(angle);
        sines[at] = (float)sin(angle);
    }
}

#endif
