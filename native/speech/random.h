/* Random numbers as numpy draws them: Generator(PCG64([seed, stream])), so that a seed gives the
 * same speech here as in Python. */
#ifndef S2S_RANDOM_H
#define S2S_RANDOM_H

#include <stdint.h>

#include "names.h"

typedef struct { uint64_t high, low; } Wide;

/* The ziggurat of Marsaglia and Tsang, of layers of equal area under e^-x. widths: of layer i,
 * divided by 2^23; limits: numbers below it lie under the curve whatever the height; heights: e^-x
 * at the edge. */
enum { LAYERS = 256 };
typedef struct { float widths[LAYERS], heights[LAYERS]; uint32_t limits[LAYERS]; } Ziggurat;

typedef struct {
    Wide state, increment;
    uint32_t half; /* what is left of a number of 64 bits of which 32 were used */
    int has_half;
    Ziggurat layers;
} Random;

void random_seed(Random *random, uint64_t seed, uint64_t stream);

/* From [0, 1). */
double random_uniform(Random *random);

/* Exponentially distributed with mean one: float [count]. */
void random_exponentials(Random *random, float *to, int count);

#endif
