/* Qwen3-TTS in C: a packed model is opened, text is spoken chunk by chunk, and stopped.
 *
 *     python -m s2s models convert 0.6b-customvoice --packed voice.s2s
 *
 * makes the one file that is opened here; no Python is needed any more. How it is linked, and an
 * example: docs/kernels.md and native/examples/speak.c. Of C99 and C++.
 *
 * One model speaks one utterance at a time. Every function may be called from any thread;
 * s2s_qwen3_stop while another one speaks, s2s_qwen3_close when none does. */
#ifndef S2S_QWEN3_H
#define S2S_QWEN3_H

#include <stddef.h>
#include <stdint.h>

#if !defined(S2S_QWEN3_API)
#if defined(_WIN32)
#define S2S_QWEN3_API
#else
#define S2S_QWEN3_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header: counts changes after which a program has to be compiled again. Structures grow at
 * their ends without one: each begins with its size as the program knows it. */
#define S2S_QWEN3_VERSION 1

/* Of the library that was loaded; another one than S2S_QWEN3_VERSION is not to be used. */
S2S_QWEN3_API int32_t s2s_qwen3_version(void);

/* What functions return. */
enum {
    S2S_QWEN3_ENDED = 0,       /* all was said */
    S2S_QWEN3_STOPPED = 1,     /* by s2s_qwen3_stop, or because a callback said so */
    S2S_QWEN3_CUT = 2,         /* after max_new_tokens, or more frames than the text can need */
    S2S_QWEN3_SILENT = 3,      /* the model fell silent and did not end by itself */
    S2S_QWEN3_REPEATING = 4,   /* the model repeated itself and was ended */
    S2S_QWEN3_NO_ARGUMENT = -1, /* an argument says what cannot be spoken */
    S2S_QWEN3_NO_FILE = -2,    /* the file cannot be read, or is no packed model, or is damaged */
    S2S_QWEN3_NO_MEMORY = -3,
    S2S_QWEN3_BUSY = -4,       /* another thread speaks with this model */
    S2S_QWEN3_FORKED = -5,     /* the process was forked after the model was opened */
    S2S_QWEN3_NO_NUMBER = -6,  /* the weights compute what is no number */
    S2S_QWEN3_NO_LEVEL = -7    /* the processor does not execute the library, or the wished level */
};

/* A model that is open. */
typedef struct s2s_qwen3 s2s_qwen3;

/* --- opening ---------------------------------------------------------------------------------- */

typedef struct {
    size_t size;          /* of this structure */
    const char *level;    /* of the kernel, as in docs/kernels.md; NULL: the best there is */
    int32_t threads;      /* that compute together, the caller's among them: 1 to 16 */
    int32_t draft_tokens; /* codes drafted for each pass of the code predictor, 0 to 7: the same
                           * distribution in fewer passes; other random numbers */
} s2s_qwen3_options;

/* The usual ones: two threads, two draft tokens. size: sizeof *options. */
S2S_QWEN3_API void s2s_qwen3_default_options(s2s_qwen3_options *options, size_t size);

/* Opens a packed model, whose weights are read into memory and held against their checksums.
 * path: in UTF-8. options: NULL for the usual ones. Returns NULL when it cannot be done, and then
 * says why in `error`, unless that is NULL: a sentence of less than error_size bytes. */
S2S_QWEN3_API s2s_qwen3 *s2s_qwen3_open(
    const char *path, const s2s_qwen3_options *options, char *error, size_t error_size);

/* Frees it. NULL is nothing. */
S2S_QWEN3_API void s2s_qwen3_close(s2s_qwen3 *model);

/* What it is: samples a second (24,000 in all published models), samples of a frame (1,920: 80 ms),
 * codes of a frame, values of a voice, the level of the kernel that computes. */
S2S_QWEN3_API int32_t s2s_qwen3_sample_rate(const s2s_qwen3 *model);
S2S_QWEN3_API int32_t s2s_qwen3_frame_samples(const s2s_qwen3 *model);
S2S_QWEN3_API int32_t s2s_qwen3_frame_codes(const s2s_qwen3 *model);
S2S_QWEN3_API int32_t s2s_qwen3_voice_size(const s2s_qwen3 *model);
S2S_QWEN3_API const char *s2s_qwen3_level(const s2s_qwen3 *model);

/* Names that a request may use, from index 0 on; NULL behind the last one. They live as long as the
 * model. */
S2S_QWEN3_API const char *s2s_qwen3_speaker(const s2s_qwen3 *model, size_t index);
S2S_QWEN3_API const char *s2s_qwen3_language(const s2s_qwen3 *model, size_t index);

/* --- speaking --------------------------------------------------------------------------------- */

/* How a code is drawn from the model's logits. */
typedef struct {
    int32_t greedy;     /* 1: always the likeliest; nothing else counts then */
    int32_t top_k;      /* 0: all */
    double temperature; /* above 0 */
    double top_p;       /* above 0, at most 1 */
} s2s_qwen3_sampling;

typedef struct {
    size_t size;            /* of this structure */
    const char *text;       /* UTF-8 without a byte of zero, or NULL where `tokens` are given */
    const int32_t *tokens;  /* the text as ids of the model's tokenizer, without its template */
    size_t token_count;
    const char *language;   /* a name of s2s_qwen3_language; NULL or "auto" leaves it open */
    const char *speaker;    /* a name of s2s_qwen3_speaker; a CustomVoice model needs one */
    const char *instruction; /* how to speak, or the voice in words; NULL: none. A 0.6B model and
                              * one that clones take none: it is left out */
    const float *voice;     /* of a recording, by the speaker encoder: a Base model needs one */
    size_t voice_size;      /* s2s_qwen3_voice_size values */
    uint64_t seed;          /* of all random numbers: the same seed, the same speech */
    s2s_qwen3_sampling talker, predictor; /* of a frame's first code, of the others */
    double repetition_penalty;
    int32_t min_new_tokens, max_new_tokens; /* frames, the end of speech included */
    int32_t streaming;      /* the text stands: 1 alongside the sound, 0 before it, -1 as the
                             * model's authors do it */
    int32_t first_chunk_frames; /* of the first chunk, and the fewest of the later ones, which grow
                                 * with the sound that waits unplayed: 1 to 25 */
    int32_t untouched;      /* 1: leading silence is left in, and the start is not faded in */
} s2s_qwen3_request;

/* The model's own settings, and nothing to say. size: sizeof *request. */
S2S_QWEN3_API void s2s_qwen3_default_request(
    const s2s_qwen3 *model, s2s_qwen3_request *request, size_t size);

/* Who is told, by the thread that speaks. Each may be NULL; any that returns another number than 0
 * ends the speech. What they are given is gone when they return. */
typedef struct {
    size_t size; /* of this structure */
    void *user;  /* given to all of them */
    int (*sound)(void *user, const float *samples, size_t count); /* a chunk, values in [-1, 1] */
    int (*frame)(void *user, const int32_t *codes, size_t count); /* a frame's codes, before its
                                                                   * sound */
    int (*stop)(void *user); /* asked before every frame and within every chunk */
} s2s_qwen3_listener;

/* Speaks, and returns when all was said or it was stopped: one of the numbers above. What is below
 * 0 is an error, which s2s_qwen3_error says in words; what was heard by then was right. */
S2S_QWEN3_API int32_t s2s_qwen3_speak(
    s2s_qwen3 *model, const s2s_qwen3_request *request, const s2s_qwen3_listener *listener);

/* Ends what is being spoken, from any thread, before its next frame; nothing more of it is heard.
 * Does nothing when nothing is. A stop that must not be missed while s2s_qwen3_speak begins belongs
 * into s2s_qwen3_listener.stop. */
S2S_QWEN3_API void s2s_qwen3_stop(s2s_qwen3 *model);

/* The last error of s2s_qwen3_speak or s2s_qwen3_tokenize in words; "" when there was none. For the
 * thread that called it. */
S2S_QWEN3_API const char *s2s_qwen3_error(const s2s_qwen3 *model);

/* Ids of a text, as a request's `text` becomes them: at most `room` into `ids`. Returns how many
 * there are, or what is below 0. */
S2S_QWEN3_API int32_t s2s_qwen3_tokenize(
    s2s_qwen3 *model, const char *text, int32_t *ids, size_t room);

/* float32 samples as 16-bit ones, to nearest; what is above 1 becomes the largest. */
S2S_QWEN3_API void s2s_qwen3_to_int16(const float *samples, size_t count, int16_t *to);

#ifdef __cplusplus
}
#endif

#endif
