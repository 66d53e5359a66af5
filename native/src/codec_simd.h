/* SIMD on single-precision floats, in the vector extensions that GCC and Clang share. */
#ifndef S2S_CODEC_SIMD_H
#define S2S_CODEC_SIMD_H

#include <stddef.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* LANES values in a register; a product works on ROWS rows of PANEL columns in registers. */
#if defined(__AVX512F__)
enum { LANES = 16, ROWS = 8 };
#elif defined(__AVX2__) && defined(__FMA__)
enum { LANES = 8, ROWS = 2 };
#elif defined(__ARM_NEON)
enum { LANES = 4, ROWS = 2 };
#else
enum { LANES = 4, ROWS = 1 };
#endif
enum { PANEL = 48, VECTORS = PANEL / LANES };

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif
#define CODEC_INLINE static inline __attribute__((always_inline))

typedef float Lanes __attribute__((vector_size(4 * LANES)));
typedef float Unaligned __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

CODEC_INLINE Lanes load_lanes(const float *from) { return *(const Unaligned *)from; }
CODEC_INLINE void store_lanes(float *to, Lanes values) { *(Unaligned *)to = values; }
CODEC_INLINE Lanes every_lane(float value) { return value - (Lanes) { 0 }; }

/* sum + a * b, rounded once where the processor can: compilers may not fuse by themselves in C11 */
CODEC_INLINE Lanes plus_product(Lanes sum, Lanes a, Lanes b)
{
#if defined(__AVX512F__)
    return (Lanes)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
#elif defined(__AVX2__) && defined(__FMA__)
    return (Lanes)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#elif defined(__ARM_NEON) && defined(__aarch64__)
    return (Lanes)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
#else
    return sum + a * b;
#endif
}

/* The Snake activation x + scale * sin(pi * frequency * x)^2 with an absolute error below
 * 3e-7 * scale beside that of the angle; |frequency * x| must be below 2^22. sin^2 has period pi:
 * the angle is counted in half turns and only its fraction f matters; the polynomial in f^2 is a
 * minimax fit on [-1/2, 1/2]. */
CODEC_INLINE Lanes snake(Lanes x, Lanes frequency, Lanes scale)
{
    const float to_nearest = 0x1.8p23f; /* numbers of this size have no fraction */
    Lanes half_turns = x * frequency, nearest = (half_turns + to_nearest) - to_nearest;
    Lanes fraction = half_turns - nearest, square = fraction * fraction;
    Lanes sum = plus_product(every_lane(12.990730f), square, every_lane(-3.2729454f));
    sum = plus_product(every_lane(-30.085953f), square, sum);
    sum = plus_product(every_lane(42.725384f), square, sum);
    sum = plus_product(every_lane(-32.469582f), square, sum);
    sum = plus_product(every_lane(9.8696032f), square, sum);
    return plus_product(x, scale, square * sum);
}

#endif
