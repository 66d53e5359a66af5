/* For benchmarks of random weights, whose draft tokens are accepted as no trained model's are: a
 * frame with a given acceptance rate. Nothing else in this library uses it
 * (docs/decisions/emulated-acceptance.md). */
#include "code_predictor.h"

typedef struct { float rate; const float *uniforms; int codes; } Emulation;

/* All work of the verification is done, and its result then replaced. */
static int accept_at_rate(
    Frame *frame, void *context, int draft, const float *proposal, float *target)
{
    Emulation *emulation = context;
    int code = accept_or_resample(frame, NULL, draft, proposal, target);
    if (*emulation->uniforms++ < emulation->rate) return draft;
    return code != draft ? code : (draft + 1) % emulation->codes;
}

/* `choose_frame`, but each draft token is accepted with probability `rate`, independent of the
 * others. rate_uniforms: [groups * draft_tokens], from [0, 1). The codes mean nothing. */
S2S_API int choose_frame_at_rate(const Predictor *predictor, KvCache *cache, const float *first,
    int draft_tokens, const Sampling *sampling, const float *uniforms, int *chosen, float rate,
    const float *rate_uniforms)
{
    Emulation emulation = { rate, rate_uniforms, predictor->codes };
    Verification verification = { accept_at_rate, &emulation };
    return choose_frame_verified(
        predictor, cache, first, draft_tokens, sampling, uniforms, &verification, chosen);
}
