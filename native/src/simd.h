/* SIMD for products with quantised matrices, sixteen rows at a time: the few operations they need,
 * on AVX-512, AVX2 or in plain C.
 *
 * `ints` and `floats` hold LANES values of 32 bits; a tile of sixteen rows is PARTS of them. */
#ifndef S2S_SIMD_H
#define S2S_SIMD_H

#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { TILE = 16, BLOCK = 32, GROUP = 4 };

/* IEEE half to single, for the places where no instruction does it. */
INLINE float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff, bits;
    float value;
    if (rest < 0x0400) { /* zero or subnormal: a multiple of 2^-24 */
        value = (float)rest * 0x1p-24f;
        return sign ? -value : value;
    }
    bits = sign | (rest >= 0x7c00 ? 0x7f800000u | (rest & 0x03ff) << 13 : (rest + 0x1c000) << 13);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Single to half, to nearest even; what is too large becomes the largest finite one. */
INLINE uint16_t float_to_half(float value)
{
    uint32_t bits, sign, size;
    memcpy(&bits, &value, sizeof bits);
    sign = bits >> 16 & 0x8000;
    size = bits & 0x7fffffff;
    if (size >= 0x477ff000) return (uint16_t)(sign | 0x7bff);
    if (size < 0x38800000) { /* subnormal half: round in units of 2^-24 */
        float magnitude;
        memcpy(&magnitude, &size, sizeof magnitude);
        magnitude = magnitude * 0x1p24f + 0x1p23f;
        memcpy(&size, &magnitude, sizeof size);
        return (uint16_t)(sign | (size & 0x7ff));
    }
    size += 0xfff + (size >> 13 & 1);
    return (uint16_t)(sign | (size - 0x38000000) >> 13);
}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VNNI__)

#include <immintrin.h>
#define LANES 16
#define INSTRUCTIONS "AVX-512 VNNI"
typedef __m512i ints;
typedef __m512 floats;

INLINE ints load(const uint8_t *from) { return _mm512_loadu_si512(from); }
INLINE ints all_ints(int32_t value) { return _mm512_set1_epi32(value); }
INLINE floats all_floats(float value) { return _mm512_set1_ps(value); }
INLINE ints low_nibbles(ints bytes) { return _mm512_and_si512(bytes, _mm512_set1_epi8(15)); }
INLINE ints high_nibbles(ints bytes) { return low_nibbles(_mm512_srli_epi16(bytes, 4)); }
INLINE floats to_floats(ints values) { return _mm512_cvtepi32_ps(values); }
INLINE floats times(floats a, floats b) { return _mm512_mul_ps(a, b); }
INLINE floats add_product(floats sum, floats a, floats b) { return _mm512_fmadd_ps(a, b, sum); }
INLINE floats halves(const uint8_t *from)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
}
INLINE void store(float *to, floats values) { _mm512_storeu_ps(to, values); }
INLINE floats load_floats(const float *from) { return _mm512_loadu_ps(from); }
INLINE float sum_of(floats values) { return _mm512_reduce_add_ps(values); }

typedef uint16_t stored; /* of the key/value cache: halves where an instruction widens them */
INLINE floats widen(const stored *from) { return halves((const uint8_t *)from); }
INLINE void narrow(stored *to, floats values)
{
    _mm256_storeu_si256(
        (__m256i *)to, _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* sum + unsigned bytes times four signed bytes, which are the same for every lane */
INLINE ints dot(ints sum, ints bytes, const int8_t *four)
{
    int32_t word;
    memcpy(&word, four, sizeof word);
    return _mm512_dpbusd_epi32(sum, bytes, _mm512_set1_epi32(word));
}
#define DOT_OF_BYTES

#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#include <immintrin.h>
#define LANES 8
typedef __m256i ints;
typedef __m256 floats;

INLINE ints load(const uint8_t *from) { return _mm256_loadu_si256((const __m256i *)from); }
INLINE ints all_ints(int32_t value) { return _mm256_set1_epi32(value); }
INLINE floats all_floats(float value) { return _mm256_set1_ps(value); }
INLINE ints low_nibbles(ints bytes) { return _mm256_and_si256(bytes, _mm256_set1_epi8(15)); }
INLINE ints high_nibbles(ints bytes) { return low_nibbles(_mm256_srli_epi16(bytes, 4)); }
INLINE floats to_floats(ints values) { return _mm256_cvtepi32_ps(values); }
INLINE floats times(floats a, floats b) { return _mm256_mul_ps(a, b); }
INLINE floats add_product(floats sum, floats a, floats b) { return _mm256_fmadd_ps(a, b, sum); }
INLINE floats halves(const uint8_t *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}
INLINE void store(float *to, floats values) { _mm256_storeu_ps(to, values); }
INLINE floats load_floats(const float *from) { return _mm256_loadu_ps(from); }
INLINE float sum_of(floats values)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
}

typedef uint16_t stored; /* of the key/value cache: halves where an instruction widens them */
INLINE floats widen(const stored *from) { return halves((const uint8_t *)from); }
INLINE void narrow(stored *to, floats values)
{
    _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
}

#if defined(__AVXVNNI__)
#define INSTRUCTIONS "AVX-VNNI"
INLINE ints dot(ints sum, ints bytes, const int8_t *four)
{
    int32_t word;
    memcpy(&word, four, sizeof word);
    return _mm256_dpbusd_avx_epi32(sum, bytes, _mm256_set1_epi32(word));
}
#define DOT_OF_BYTES
#else
#define INSTRUCTIONS "AVX2"
/* Products of bytes are added in pairs, which have to fit into 16 bits. Those of nibbles do, eight
 * times over (8 * 2 * 15 * 127 = 30480): a block's are summed before they are widened. */
typedef __m256i pairs;
INLINE ints same_four(const int8_t *four)
{
    int32_t word;
    memcpy(&word, four, sizeof word);
    return _mm256_set1_epi32(word);
}
INLINE pairs no_pairs(void) { return _mm256_setzero_si256(); }
INLINE pairs dot_nibbles(pairs sum, ints nibbles, const int8_t *four)
{
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(nibbles, same_four(four)));
}
INLINE ints sum_pairs(pairs sum) { return _mm256_madd_epi16(sum, _mm256_set1_epi16(1)); }

/* A byte u stands for u - 128, whose sign goes over to what it is multiplied with: a pair is 2 * 128
 * * 127 = 32512 at the most. */
typedef struct { __m256i sizes, values; } weights;
enum { ZERO_POINT = 0 };
INLINE weights to_weights(ints bytes)
{
    __m256i values = _mm256_xor_si256(bytes, _mm256_set1_epi8(-128));
    return (weights) { _mm256_abs_epi8(values), values };
}
INLINE ints dot_weights(ints sum, weights of, const int8_t *four)
{
    ints products = _mm256_maddubs_epi16(of.sizes, _mm256_sign_epi8(same_four(four), of.values));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
}
#endif

#else /* plain C, which compilers turn into the vectors they know */

#define LANES 16
#define INSTRUCTIONS "plain C"
typedef struct { uint8_t bytes[TILE * GROUP]; } packed;
typedef struct { int32_t lane[TILE]; } ints;
typedef struct { float lane[TILE]; } floats;
#define EACH_LANE for (int at = 0; at < TILE; at++)

INLINE ints load(const uint8_t *from)
{
    ints all;
    memcpy(&all, from, sizeof all);
    return all;
}
INLINE ints all_ints(int32_t value)
{
    ints all;
    EACH_LANE all.lane[at] = value;
    return all;
}
INLINE floats all_floats(float value)
{
    floats all;
    EACH_LANE all.lane[at] = value;
    return all;
}
INLINE ints low_nibbles(ints bytes)
{
    EACH_LANE bytes.lane[at] &= 0x0f0f0f0f;
    return bytes;
}
INLINE ints high_nibbles(ints bytes)
{
    EACH_LANE bytes.lane[at] = (int32_t)((uint32_t)bytes.lane[at] >> 4 & 0x0f0f0f0fu);
    return bytes;
}
INLINE floats to_floats(ints values)
{
    floats all;
    EACH_LANE all.lane[at] = (float)values.lane[at];
    return all;
}
INLINE floats times(floats a, floats b)
{
    EACH_LANE a.lane[at] *= b.lane[at];
    return a;
}
INLINE floats add_product(floats sum, floats a, floats b)
{
    EACH_LANE sum.lane[at] += a.lane[at] * b.lane[at];
    return sum;
}
INLINE floats halves(const uint8_t *from)
{
    floats all;
    EACH_LANE
    {
        uint16_t half;
        memcpy(&half, from + 2 * at, sizeof half);
        all.lane[at] = half_to_float(half);
    }
    return all;
}
INLINE void store(float *to, floats values) { memcpy(to, &values, sizeof values); }
INLINE floats load_floats(const float *from)
{
    floats all;
    memcpy(&all, from, sizeof all);
    return all;
}
INLINE float sum_of(floats values)
{
    float sum = 0;
    EACH_LANE sum += values.lane[at];
    return sum;
}

typedef float stored; /* of the key/value cache: no instruction widens halves here */
INLINE floats widen(const stored *from) { return load_floats(from); }
INLINE void narrow(stored *to, floats values) { store(to, values); }
INLINE ints dot(ints sum, ints bytes, const int8_t *four)
{
    uint8_t each[TILE * GROUP];
    memcpy(each, &bytes, sizeof each);
    EACH_LANE for (int in = 0; in < GROUP; in++) sum.lane[at] += each[GROUP * at + in] * four[in];
    return sum;
}
#define DOT_OF_BYTES
#undef EACH_LANE

#endif

#ifdef DOT_OF_BYTES /* any bytes: then there is nothing that would not fit */
typedef ints pairs;
INLINE pairs no_pairs(void) { return all_ints(0); }
INLINE pairs dot_nibbles(pairs sum, ints nibbles, const int8_t *four)
{
    return dot(sum, nibbles, four);
}
INLINE ints sum_pairs(pairs sum) { return sum; }
typedef ints weights;
enum { ZERO_POINT = 128 }; /* what has yet to be taken off a weight */
INLINE weights to_weights(ints bytes) { return bytes; }
INLINE ints dot_weights(ints sum, weights of, const int8_t *four) { return dot(sum, of, four); }
#endif

enum { PARTS = TILE / LANES };

#endif
