/* IEEE half precision, for the places where no instruction converts it. */
#ifndef S2S_HALF_H
#define S2S_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_to_float(uint16_t half)
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
static inline uint16_t float_to_half(float value)
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

#endif
