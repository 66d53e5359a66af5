/* A model that speaks, of one level of the kernel; what s2s_qwen3.h promises is done here, and
 * door.c chooses the level. */
#ifndef S2S_SPEECH_H
#define S2S_SPEECH_H

#include "fault.h"
#include "s2s_qwen3.h"
#include "voices.h"

typedef struct Speaker Speaker;

/* What does not change. */
typedef struct {
    int32_t sample_rate, frame_samples, groups, voice_size;
    const Voices *voices;
    s2s_qwen3_request usual; /* the model's own settings */
} Facts;

/* The functions of a level, by which door.c reaches it. */
typedef struct {
    Speaker *(*open)(const char *path, const s2s_qwen3_options *options, Fault *fault);
    void (*close)(Speaker *speaker);
    const Facts *(*facts)(const Speaker *speaker);
    int (*speak)(Speaker *speaker, const s2s_qwen3_request *request,
        const s2s_qwen3_listener *listener, Fault *fault);
    void (*stop)(Speaker *speaker);
    int (*tokenize)(
        Speaker *speaker, const char *text, int32_t *ids, size_t room, Fault *fault);
} SpeechFunctions;

extern const SpeechFunctions speech_functions;

#endif
