/* One utterance in the making: frames of codes, and their sound. */
#ifndef S2S_UTTERANCE_H
#define S2S_UTTERANCE_H

#include <stdatomic.h>

#include "codec.h"
#include "language_model.h"
#include "prompt.h"
#include "sampling.h"
#include "schedule.h"
#include "speech.h"
#include "stop_rules.h"

struct Speaker {
    PackedFile file;
    LanguageModel model;
    Codec codec;
    Tokenizer tokenizer;
    Voices voices;
    uint8_t *silent; /* [codes]: first codes that stand for silence */
    Facts facts;
    ThreadPool *pool;
    int draft_tokens;
    atomic_flag speaks;
    atomic_int stopped;
    KvCache *talker_cache, *frame_cache; /* the first grows with what is said */
    int room;                            /* positions of the first */
    FirstCodes first;
    float *hidden, *prompt_hidden, *logits, *inputs, *uniforms; /* see speaker_new_buffers */
    int32_t *waiting; /* [MOST_CHUNK_FRAMES][groups]: frames that were not decoded yet */
    float *samples;   /* [MOST_CHUNK_FRAMES][frame_samples] */
};

typedef struct {
    Speaker *speaker;
    const s2s_qwen3_request *request;
    const s2s_qwen3_listener *listener;
    Fault *fault;
    Prompt prompt;
    Reader reader;
    Sampling how; /* of the predictor */
    Random random;
    Schedule schedule;
    Watch watch;
    int limit, waiting, heard;
    int trim_left; /* frames of silence that may yet be left out */
    int started;   /* something was given out */
} Utterance;

/* Feeds the prompt, and samples until a run is not discarded. Returns as s2s_qwen3_speak. */
int utterance_speak(Utterance *utterance);

/* Once true it stays so until the utterance is over. */
int is_stopped(const Utterance *utterance);

/* All frames that wait go to the decoder, and to the listener. Returns 0, STOPPED or a fault. */
int sound_waiting(Utterance *utterance);

#endif
