/* The remaining codes of a frame: forward passes of the code predictor, its heads, and the sampling
 * between them, in one call. */
#ifndef S2S_CODE_PREDICTOR_H
#define S2S_CODE_PREDICTOR_H

#include "level.h"
#include "transformer.h"

enum { MAX_DRAFT_TOKENS = MAX_ROWS - 1 };

/* As in sampling.py. top_k 0 and top_p 1 keep all. */
typedef struct {
    int greedy, top_k;
    float temperature, top_p;
} Sampling;

/* groups: codes to be chosen, each with its head [codes][hidden]. vectors: of the group before the
 * first on, the embeddings [codes][hidden] of a code, in the type of a GGUF tensor (F32, F16,
 * BF16); the first of them is not used here. */
typedef struct {
    Transformer *transformer;
    int groups, codes, hidden, vector_type;
    const Matrix *const *heads;
    const void *const *vectors;
} Predictor;

/* Chooses all codes of a frame: chosen [groups].
 *
 * first: float [2][hidden], the hidden vector and the vector of the frame's first code.
 * draft_tokens: how many codes are drafted for each forward pass, which verifies them, as in
 * sampling_speculative.py: the distribution does not depend on it. uniforms: numbers from [0, 1),
 * `frame_uniforms` of them. The cache is emptied first. Returns the number of forward passes, or -1
 * when there is no memory or there are other than 0 to MAX_DRAFT_TOKENS draft tokens, or FORKED. */
S2S_API int choose_frame(const Predictor *predictor, KvCache *cache, const float *first,
    int draft_tokens, const Sampling *sampling, const float *uniforms, int *chosen);

/* Random numbers that a frame can need. */
S2S_API int frame_uniforms(int groups, int draft_tokens);

/* What a code is drawn from: p float [count], summing to one. scratch: float [count]. */
S2S_API void distribution(
    const float *logits, int count, const Sampling *sampling, float *scratch, float *p);

/* --- another way of verifying ----------------------------------------------------------------- */

typedef struct Frame Frame;

/* Returns the draft token, or the code that replaces it. proposal: the distribution that the draft
 * token was drawn from; target: the one to sample from, which may be overwritten. */
typedef struct {
    int (*verify)(Frame *frame, void *context, int draft, const float *proposal, float *target);
    void *context;
} Verification;

/* Accepts the draft token, or resamples so that the result is a draw from `target` (Leviathan et
 * al., arXiv 2211.17192). Uses no context. */
int accept_or_resample(
    Frame *frame, void *context, int draft, const float *proposal, float *target);

/* `choose_frame` with draft tokens verified otherwise. */
int choose_frame_verified(const Predictor *predictor, KvCache *cache, const float *first,
    int draft_tokens, const Sampling *sampling, const float *uniforms,
    const Verification *verification, int *chosen);

#endif
