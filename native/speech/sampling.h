/* The first code of every frame, or the end of speech: chosen from the talker's logits as
 * s2s/tts/qwen3/sampling.py does it. */
#ifndef S2S_SAMPLING_H
#define S2S_SAMPLING_H

#include <stdint.h>

#include "random.h"
#include "s2s_qwen3.h"

/* Of one sampling run. Index `codes` stands for the end of speech, which is id `eos` of
 * `vocabulary`. */
typedef struct {
    int codes, eos, vocabulary, count;
    s2s_qwen3_sampling how;
    float repetition_penalty;
    int min_new_tokens;
    Random random;
    uint8_t *seen;                            /* [codes + 1] */
    float *scores, *scratch, *noise;          /* [codes + 1], the same, [vocabulary] */
    int32_t *order;                           /* [codes + 1] */
} FirstCodes;

/* Memory for all but the settings. Returns 0, or -1 when there is none. */
int first_codes_new(FirstCodes *first, int codes, int eos, int vocabulary);
void first_codes_free(FirstCodes *first);

/* Nothing was chosen yet. */
void first_codes_begin(FirstCodes *first);

/* A code below `codes`, or `codes` for the end. logits: float [codes + 1]. */
int first_codes_choose(FirstCodes *first, const float *logits);

#endif
