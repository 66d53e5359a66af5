/* The remaining codes of a frame: passes of the code predictor, its heads, and the choices between,
 * without leaving this library. */
#ifndef S2S_FRAME_H
#define S2S_FRAME_H

#include "transformer.h"

enum { MAX_GUESSES = MAX_ROWS - 1 };

/* As in sampling.py. top_k 0 and top_p 1 keep all. acceptance: below 0 guesses are settled as they
 * deserve; from 0 on by lot, with that chance, which is for measuring time alone. */
typedef struct {
    int greedy, top_k;
    float temperature, top_p, acceptance;
} Sampling;

/* groups: codes to be chosen, each with its head [codes][hidden]. vectors: of the group before the
 * first on, the rows [codes][hidden] that a code is fed as, in the type of a GGUF tensor (F32, F16,
 * BF16); the first of them is not used here. */
typedef struct {
    Decoder *decoder;
    int groups, codes, hidden, vector_type;
    const Matrix *const *heads;
    const void *const *vectors;
} Predictor;

/* Chooses all codes of a frame: chosen [groups].
 *
 * first: float [2][hidden], the hidden vector and the vector of the frame's first code. guesses: how
 * many codes are guessed ahead of each pass, as speculation.py does it: the distribution does not
 * depend on it. uniforms: numbers from [0, 1), `frame_uniforms` of them. The cache is emptied first.
 * Returns the passes made, or -1 when there is no memory. */
int choose_frame(const Predictor *predictor, Cache *cache, const float *first, int guesses,
    const Sampling *sampling, const float *uniforms, int *chosen);

/* Random numbers that a frame can need. */
int frame_uniforms(int groups, int guesses);

/* What a code is drawn from: p float [count], summing to one. */
void distribution(const float *logits, int count, const Sampling *sampling, float *p);

#endif
