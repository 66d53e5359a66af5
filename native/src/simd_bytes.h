/* SIMD for products with quantised matrices, sixteen rows at a time: unsigned bytes or nibbles of
 * weights, four columns of LANES rows in a vector, times four signed bytes, none of them -128, that
 * are the same for all rows. Whole numbers: every level has the same results. */
#ifndef S2S_SIMD_BYTES_H
#define S2S_SIMD_BYTES_H

#include "half.h"
#include "simd.h"

enum { BLOCK = 32, GROUP = 4 };

typedef uint8_t bytes __attribute__((vector_size(4 * LANES)));
typedef uint8_t unaligned_bytes __attribute__((vector_size(4 * LANES), aligned(1), may_alias));
typedef uint16_t words __attribute__((vector_size(4 * LANES)));

INLINE bytes load_bytes(const uint8_t *from) { return *(const unaligned_bytes *)from; }
INLINE bytes low_nibbles(bytes both) { return both & 15; }
INLINE bytes high_nibbles(bytes both) { return (bytes)((words)both >> 4) & 15; }
INLINE ints all_ints(int32_t value) { return value - (ints) { 0 }; }
INLINE int32_t word_of(const int8_t *four)
{
    int32_t word;
    memcpy(&word, four, sizeof word);
    return word;
}

/* LANES halves. */
INLINE floats halves(const uint8_t *from)
{
#if defined(WITH_AVX512) || defined(WITH_AVX2) || defined(WITH_NEON)
    return widen((const stored *)from);
#else
    floats all;
    for (int at = 0; at < LANES; at++) {
        uint16_t half;
        memcpy(&half, from + 2 * at, sizeof half);
        all[at] = half_to_float(half);
    }
    return all;
#endif
}

/* --- one instruction for any bytes ---------------------------------------------------------------- */

#if defined(WITH_AVX512)
#define INSTRUCTIONS "AVX-512 VNNI"
#define DOT_OF_BYTES
INLINE ints dot(ints sum, bytes of, const int8_t *four)
{
    return (ints)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)of, _mm512_set1_epi32(word_of(four)));
}

#elif defined(WITH_AVX2) && defined(__AVXVNNI__)
#define INSTRUCTIONS "AVX-VNNI"
#define DOT_OF_BYTES
INLINE ints dot(ints sum, bytes of, const int8_t *four)
{
    return (ints)_mm256_dpbusd_avx_epi32(
        (__m256i)sum, (__m256i)of, _mm256_set1_epi32(word_of(four)));
}

#elif defined(WITH_NEON) && defined(__ARM_FEATURE_MATMUL_INT8)
#define INSTRUCTIONS "NEON i8mm"
#define DOT_OF_BYTES
INLINE ints dot(ints sum, bytes of, const int8_t *four)
{
    int8x16_t same = vreinterpretq_s8_s32(vdupq_n_s32(word_of(four)));
    return (ints)vusdotq_s32((int32x4_t)sum, (uint8x16_t)of, same);
}

/* --- signed bytes, or what fits into 16 bits ------------------------------------------------------ */

#elif defined(WITH_NEON)
/* A byte u stands for u - 128, which is a signed byte; nibbles are signed bytes too. */
typedef int8x16_t weights;
enum { ZERO_POINT = 0 };
INLINE int8x16_t same_four(const int8_t *four)
{
    return vreinterpretq_s8_s32(vdupq_n_s32(word_of(four)));
}
INLINE weights to_weights(bytes of) { return (int8x16_t)(of ^ 0x80); }

#if defined(__ARM_FEATURE_DOTPROD)
#define INSTRUCTIONS "NEON dotprod"
INLINE ints dot_weights(ints sum, weights of, const int8_t *four)
{
    return (ints)vdotq_s32((int32x4_t)sum, of, same_four(four));
}
typedef ints pairs;
INLINE pairs no_pairs(void) { return all_ints(0); }
INLINE pairs dot_nibbles(pairs sum, bytes nibbles, const int8_t *four)
{
    return dot_weights(sum, (int8x16_t)nibbles, four);
}
INLINE ints sum_pairs(pairs sum) { return sum; }

#else
#define INSTRUCTIONS "NEON"
/* A pair is 2 * 128 * 127 = 32512 at the most. */
INLINE ints dot_weights(ints sum, weights of, const int8_t *four)
{
    int8x16_t same = same_four(four);
    int16x8_t low = vmull_s8(vget_low_s8(of), vget_low_s8(same)), high = vmull_high_s8(of, same);
    return (ints)vpadalq_s16((int32x4_t)sum, vpaddq_s16(low, high));
}
/* A block's nibbles are summed before they are widened, 8 * 2 * 15 * 127 = 30480 at the most. */
typedef struct { int16x8_t low, high; } pairs;
INLINE pairs no_pairs(void) { return (pairs) { vdupq_n_s16(0), vdupq_n_s16(0) }; }
INLINE pairs dot_nibbles(pairs sum, bytes nibbles, const int8_t *four)
{
    int8x16_t same = same_four(four), of = (int8x16_t)nibbles;
    sum.low = vmlal_s8(sum.low, vget_low_s8(of), vget_low_s8(same));
    sum.high = vmlal_high_s8(sum.high, of, same);
    return sum;
}
INLINE ints sum_pairs(pairs sum) { return (ints)vpaddlq_s16(vpaddq_s16(sum.low, sum.high)); }
#endif

#elif defined(WITH_AVX2)
#define INSTRUCTIONS "AVX2"
/* Products of bytes are added in pairs, which have to fit into 16 bits. Those of nibbles do, eight
 * times over (8 * 2 * 15 * 127 = 30480): a block's are summed before they are widened. */
typedef __m256i pairs;
INLINE __m256i same_four(const int8_t *four) { return _mm256_set1_epi32(word_of(four)); }
INLINE pairs no_pairs(void) { return _mm256_setzero_si256(); }
INLINE pairs dot_nibbles(pairs sum, bytes nibbles, const int8_t *four)
{
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16((__m256i)nibbles, same_four(four)));
}
INLINE ints sum_pairs(pairs sum) { return (ints)_mm256_madd_epi16(sum, _mm256_set1_epi16(1)); }

/* A byte u stands for u - 128, whose sign goes over to what it is multiplied with: a pair is 2 * 128
 * * 127 = 32512 at the most. */
typedef struct { __m256i sizes, values; } weights;
enum { ZERO_POINT = 0 };
INLINE weights to_weights(bytes of)
{
    __m256i values = (__m256i)(of ^ 0x80);
    return (weights) { _mm256_abs_epi8(values), values };
}
INLINE ints dot_weights(ints sum, weights of, const int8_t *four)
{
    __m256i products
        = _mm256_maddubs_epi16(of.sizes, _mm256_sign_epi8(same_four(four), of.values));
    return sum + (ints)_mm256_madd_epi16(products, _mm256_set1_epi16(1));
}

/* --- the rest ------------------------------------------------------------------------------------- */

#elif defined(WITH_SSE2)
#define INSTRUCTIONS "SSE2"
#define DOT_OF_BYTES
INLINE ints dot(ints sum, bytes of, const int8_t *four)
{
    __m128i zero = _mm_setzero_si128(), same = _mm_set1_epi32(word_of(four));
    same = _mm_unpacklo_epi8(same, _mm_cmpgt_epi8(zero, same)); /* four words, twice */
    __m128 low = _mm_castsi128_ps(_mm_madd_epi16(_mm_unpacklo_epi8((__m128i)of, zero), same));
    __m128 high = _mm_castsi128_ps(_mm_madd_epi16(_mm_unpackhi_epi8((__m128i)of, zero), same));
    return sum + (ints)_mm_castps_si128(_mm_shuffle_ps(low, high, 0x88))
           + (ints)_mm_castps_si128(_mm_shuffle_ps(low, high, 0xdd));
}

#else
#define INSTRUCTIONS "plain C"
#define DOT_OF_BYTES
INLINE ints dot(ints sum, bytes of, const int8_t *four)
{
    for (int at = 0; at < LANES; at++)
        for (int in = 0; in < GROUP; in++) sum[at] += of[GROUP * at + in] * four[in];
    return sum;
}
#endif

#ifdef DOT_OF_BYTES /* any bytes: then there is nothing that would not fit */
typedef ints pairs;
INLINE pairs no_pairs(void) { return all_ints(0); }
INLINE pairs dot_nibbles(pairs sum, bytes nibbles, const int8_t *four)
{
    return dot(sum, nibbles, four);
}
INLINE ints sum_pairs(pairs sum) { return sum; }
typedef bytes weights;
enum { ZERO_POINT = 128 }; /* what has yet to be taken off a weight */
INLINE weights to_weights(bytes of) { return of; }
INLINE ints dot_weights(ints sum, weights of, const int8_t *four) { return dot(sum, of, four); }
#endif

#endif
