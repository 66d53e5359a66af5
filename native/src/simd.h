/* SIMD on single-precision floats, in the vector extensions that GCC and Clang share and a few
 * instructions of each processor.
 *
 * `floats` holds LANES values. Sums over the lanes are always taken of sixteen (PARTS vectors), in
 * one order, so that results do not depend on LANES: they are the same to the bit on every
 * processor that fuses a product and a sum (docs/decisions/kernel-same-bits.md). */
#ifndef S2S_SIMD_H
#define S2S_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VNNI__)
#define WITH_AVX512
#include <immintrin.h>
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define WITH_AVX2
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define WITH_NEON
#include <arm_neon.h>
#elif defined(__SSE2__)
#define WITH_SSE2
#include <emmintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#if defined(WITH_AVX512)
enum { LANES = 16 };
#elif defined(WITH_AVX2)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { TILE = 16, PARTS = TILE / LANES };

typedef float floats __attribute__((vector_size(4 * LANES)));
typedef float unaligned_floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));

INLINE floats load(const float *from) { return *(const unaligned_floats *)from; }
INLINE void store(float *to, floats values) { *(unaligned_floats *)to = values; }
INLINE floats all_floats(float value) { return value - (floats) { 0 }; }
INLINE floats to_floats(ints values) { return __builtin_convertvector(values, floats); }

/* sum + a * b, rounded once where the processor can: compilers may not fuse by themselves in C11 */
INLINE floats add_product(floats sum, floats a, floats b)
{
#if defined(WITH_AVX512)
    return (floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
#elif defined(WITH_AVX2)
    return (floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#elif defined(WITH_NEON)
    return (floats)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
#else
    return sum + a * b;
#endif
}

/* Of sixteen values, in halves: those eight apart, then four, two, one. */
INLINE float sum_of(const floats values[PARTS])
{
#if defined(WITH_AVX512)
    __m256 eight = _mm256_add_ps(
        _mm512_castps512_ps256((__m512)values[0]),
        _mm256_castpd_ps(_mm512_extractf64x4_pd((__m512d)values[0], 1)));
#elif defined(WITH_AVX2)
    __m256 eight = (__m256)(values[0] + values[1]);
#endif
#if defined(WITH_AVX512) || defined(WITH_AVX2)
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
#else
    floats four = (values[0] + values[2]) + (values[1] + values[3]);
    return (four[0] + four[2]) + (four[1] + four[3]);
#endif
}

/* --- what the key/value cache holds: halves where an instruction widens them --------------------- */

#if defined(WITH_AVX512)
typedef uint16_t stored;
INLINE floats widen(const stored *from)
{
    return (floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
}
INLINE void narrow(stored *to, floats values)
{
    _mm256_storeu_si256((__m256i *)to,
        _mm512_cvtps_ph((__m512)values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(WITH_AVX2)
typedef uint16_t stored;
INLINE floats widen(const stored *from)
{
    return (floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}
INLINE void narrow(stored *to, floats values)
{
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph((__m256)values, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(WITH_NEON)
typedef uint16_t stored;
INLINE floats widen(const stored *from)
{
    return (floats)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}
INLINE void narrow(stored *to, floats values)
{
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)values)));
}
#else
typedef float stored;
INLINE floats widen(const stored *from) { return load(from); }
INLINE void narrow(stored *to, floats values) { store(to, values); }
#endif

#endif
