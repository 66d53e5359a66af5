/* Instructions that a processor with AVX2 does not have, made of those it has, so that the code for
 * AVX-512 and AVX-VNNI runs there and its results can be compared: for checks alone. Included in
 * front of everything (-include), with EMULATED_AVX512 or EMULATED_AVX_VNNI defined. */
#ifndef S2S_EMULATED_H
#define S2S_EMULATED_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

/* sum + unsigned bytes times signed bytes, four to a lane */
static inline void emulated_dot(
    const int32_t *sum, const uint8_t *of, const int8_t *by, int lanes, int32_t *to)
{
    for (int lane = 0; lane < lanes; lane++) {
        to[lane] = sum[lane];
        for (int in = 0; in < 4; in++) to[lane] += of[4 * lane + in] * by[4 * lane + in];
    }
}

#if defined(EMULATED_AVX_VNNI)

#define __AVXVNNI__ 1
#define _mm256_dpbusd_avx_epi32 emulated_dpbusd
static inline __m256i emulated_dpbusd(__m256i sum, __m256i of, __m256i by)
{
    int32_t sums[8], to[8];
    uint8_t bytes[32];
    int8_t factors[32];
    memcpy(sums, &sum, sizeof sums);
    memcpy(bytes, &of, sizeof bytes);
    memcpy(factors, &by, sizeof factors);
    emulated_dot(sums, bytes, factors, 8, to);
    return _mm256_loadu_si256((const __m256i *)to);
}

#elif defined(EMULATED_AVX512)

#define __AVX512F__ 1
#define __AVX512BW__ 1
#define __AVX512VNNI__ 1
typedef union { __m512 whole; __m512i ints; __m512d doubles; __m256 half[2]; } Emulated;

#define _mm512_fmadd_ps emulated_fmadd
static inline __m512 emulated_fmadd(__m512 a, __m512 b, __m512 c)
{
    Emulated left = { a }, right = { b }, sum = { c };
    for (int at = 0; at < 2; at++)
        sum.half[at] = _mm256_fmadd_ps(left.half[at], right.half[at], sum.half[at]);
    return sum.whole;
}

#undef _mm512_castps512_ps256
#define _mm512_castps512_ps256 emulated_lower
static inline __m256 emulated_lower(__m512 of)
{
    return ((Emulated) { of }).half[0];
}

#undef _mm512_extractf64x4_pd
#define _mm512_extractf64x4_pd emulated_upper
static inline __m256d emulated_upper(__m512d of, int which)
{
    return _mm256_castps_pd(((Emulated) { .doubles = of }).half[which]);
}

#undef _mm512_cvtph_ps
#define _mm512_cvtph_ps emulated_widened
static inline __m512 emulated_widened(__m256i halves)
{
    Emulated to;
    to.half[0] = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    to.half[1] = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
    return to.whole;
}

#undef _mm512_cvtps_ph
#define _mm512_cvtps_ph(of, how) emulated_narrowed(of)
static inline __m256i emulated_narrowed(__m512 of)
{
    Emulated from = { of };
    return _mm256_set_m128i(
        _mm256_cvtps_ph(from.half[1], _MM_FROUND_TO_NEAREST_INT),
        _mm256_cvtps_ph(from.half[0], _MM_FROUND_TO_NEAREST_INT));
}

#define _mm512_set1_epi32 emulated_all
static inline __m512i emulated_all(int32_t value)
{
    Emulated to;
    to.half[0] = to.half[1] = _mm256_castsi256_ps(_mm256_set1_epi32(value));
    return to.ints;
}

#define _mm512_dpbusd_epi32 emulated_dpbusd
static inline __m512i emulated_dpbusd(__m512i sum, __m512i of, __m512i by)
{
    int32_t sums[16], to[16];
    uint8_t bytes[64];
    int8_t factors[64];
    __m512i made;
    memcpy(sums, &sum, sizeof sums);
    memcpy(bytes, &of, sizeof bytes);
    memcpy(factors, &by, sizeof factors);
    emulated_dot(sums, bytes, factors, 16, to);
    memcpy(&made, to, sizeof made);
    return made;
}

#endif
#endif
