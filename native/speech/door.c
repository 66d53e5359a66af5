/* What s2s_qwen3.h promises, of the level that is chosen when a model is opened. Compiled once, for
 * any processor of the architecture. */
#include "s2s_qwen3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "speech.h"
#include "thread_pool.h"

#undef speech_functions
#define FUNCTIONS_OF(level) S2S_JOIN(level, speech_functions)
#define LEVEL(level) { #level, &FUNCTIONS_OF(level) }

#if !defined(S2S_ALL_LEVELS)
#define TEXT_OF(level) #level
#define TEXT(level) TEXT_OF(level)
extern const SpeechFunctions FUNCTIONS_OF(S2S_LEVEL);
#elif defined(__x86_64__)
extern const SpeechFunctions FUNCTIONS_OF(baseline), FUNCTIONS_OF(avx2), FUNCTIONS_OF(avx2_vnni),
    FUNCTIONS_OF(avx512_vnni);
#elif defined(__aarch64__)
extern const SpeechFunctions FUNCTIONS_OF(neon), FUNCTIONS_OF(dotprod), FUNCTIONS_OF(i8mm);
#endif

static const struct { const char *level; const SpeechFunctions *functions; } levels[] = {
#if !defined(S2S_ALL_LEVELS)
    { TEXT(S2S_LEVEL), &FUNCTIONS_OF(S2S_LEVEL) },
#elif defined(__x86_64__)
    LEVEL(baseline), LEVEL(avx2), LEVEL(avx2_vnni), LEVEL(avx512_vnni),
#elif defined(__aarch64__)
    LEVEL(neon), LEVEL(dotprod), LEVEL(i8mm),
#endif
};

struct s2s_qwen3 {
    const SpeechFunctions *functions;
    const char *level;
    Speaker *speaker;
};

/* The last error of this thread. */
static _Thread_local Fault last;

int32_t s2s_qwen3_version(void)
{
    return S2S_QWEN3_VERSION;
}

/* --- structures that grow --------------------------------------------------------------------- */

/* `ours`, as far as a program knows it. size: the structure's there. */
static void give(void *theirs, size_t size, const void *ours, size_t known)
{
    if (!size) return;
    memset(theirs, 0, size);
    memcpy(theirs, ours, size < known ? size : known);
    memcpy(theirs, &size, size < sizeof size ? size : sizeof size);
}

/* What a program has filled, over what is usual for the rest. Returns 0 or a fault. */
static int get(void *ours, size_t known, const void *theirs, const char *what, Fault *fault)
{
    size_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < sizeof size || size > known)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "the %s has a size of %zu where %zu are known: "
            "set it, or take the library of your header", what, size, known);
    memcpy(ours, theirs, size);
    return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static const s2s_qwen3_options usual = { sizeof usual, NULL, 2, 2 };

void s2s_qwen3_default_options(s2s_qwen3_options *options, size_t size)
{
    give(options, size, &usual, sizeof usual);
}

static int choose_level(s2s_qwen3 *model, const char *wished, Fault *fault)
{
    const char *level = wished ? wished : s2s_kernel_best_level();
    if (level && s2s_kernel_executes(level) == 1)
        for (size_t at = 0; at < sizeof levels / sizeof *levels; at++)
            if (!strcmp(levels[at].level, level)) {
                model->level = levels[at].level;
                model->functions = levels[at].functions;
                return 0;
            }
    return fail(fault, S2S_QWEN3_NO_LEVEL, "this processor executes no level \"%.20s\"; the "
        "library has: %s", level ? level : "", s2s_kernel_levels());
}

static int check_options(const s2s_qwen3_options *options, Fault *fault)
{
    if (options->threads < 1 || options->threads > MAX_THREADS)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "threads is %d: from 1 to %d",
            (int)options->threads, MAX_THREADS);
    if (options->draft_tokens < 0 || options->draft_tokens > 7)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "draft_tokens is %d: from 0 to 7",
            (int)options->draft_tokens);
    return 0;
}

static s2s_qwen3 *open_model(
    const char *path, const s2s_qwen3_options *given, Fault *fault)
{
    s2s_qwen3_options options = usual;
    if (!path) {
        fail(fault, S2S_QWEN3_NO_ARGUMENT, "no path was given");
        return NULL;
    }
    if (given && get(&options, sizeof options, given, "options", fault)) return NULL;
    if (check_options(&options, fault)) return NULL;
    s2s_qwen3 *model = calloc(1, sizeof *model);
    if (!model) {
        fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a model");
        return NULL;
    }
    if (!choose_level(model, options.level, fault))
        model->speaker = model->functions->open(path, &options, fault);
    if (model->speaker) return model;
    free(model);
    return NULL;
}

s2s_qwen3 *s2s_qwen3_open(
    const char *path, const s2s_qwen3_options *options, char *error, size_t error_size)
{
    Fault fault = { "" };
    s2s_qwen3 *model = open_model(path, options, &fault);
    if (!model && error && error_size) snprintf(error, error_size, "%s", fault.text);
    return model;
}

void s2s_qwen3_close(s2s_qwen3 *model)
{
    if (!model) return;
    model->functions->close(model->speaker);
    free(model);
}

/* --- what it is ------------------------------------------------------------------------------- */

static const Facts *facts_of(const s2s_qwen3 *model)
{
    return model->functions->facts(model->speaker);
}

int32_t s2s_qwen3_sample_rate(const s2s_qwen3 *model)
{
    return facts_of(model)->sample_rate;
}

int32_t s2s_qwen3_frame_samples(const s2s_qwen3 *model)
{
    return facts_of(model)->frame_samples;
}

int32_t s2s_qwen3_frame_codes(const s2s_qwen3 *model)
{
    return facts_of(model)->groups;
}

int32_t s2s_qwen3_voice_size(const s2s_qwen3 *model)
{
    return facts_of(model)->voice_size;
}

const char *s2s_qwen3_level(const s2s_qwen3 *model)
{
    return model->level;
}

static const char *name_at(const Names *names, size_t index)
{
    return index < (size_t)names->count ? names->each[index] : NULL;
}

const char *s2s_qwen3_speaker(const s2s_qwen3 *model, size_t index)
{
    return name_at(&facts_of(model)->voices->speakers, index);
}

const char *s2s_qwen3_language(const s2s_qwen3 *model, size_t index)
{
    return name_at(&facts_of(model)->voices->languages, index);
}

/* --- speaking --------------------------------------------------------------------------------- */

void s2s_qwen3_default_request(const s2s_qwen3 *model, s2s_qwen3_request *request, size_t size)
{
    give(request, size, &facts_of(model)->usual, sizeof(s2s_qwen3_request));
}

int32_t s2s_qwen3_speak(
    s2s_qwen3 *model, const s2s_qwen3_request *request, const s2s_qwen3_listener *listener)
{
    s2s_qwen3_request asked = facts_of(model)->usual;
    s2s_qwen3_listener told = { sizeof told, NULL, NULL, NULL, NULL };
    last.text[0] = 0;
    int status = get(&asked, sizeof asked, request, "request", &last);
    if (!status) status = get(&told, sizeof told, listener, "listener", &last);
    return status ? status : model->functions->speak(model->speaker, &asked, &told, &last);
}

void s2s_qwen3_stop(s2s_qwen3 *model)
{
    model->functions->stop(model->speaker);
}

const char *s2s_qwen3_error(const s2s_qwen3 *model)
{
    (void)model;
    return last.text;
}

int32_t s2s_qwen3_tokenize(s2s_qwen3 *model, const char *text, int32_t *ids, size_t room)
{
    last.text[0] = 0;
    return model->functions->tokenize(model->speaker, text, ids, room, &last);
}

void s2s_qwen3_to_int16(const float *samples, size_t count, int16_t *to)
{
    for (size_t at = 0; at < count; at++) {
        float value = samples[at] * 32768;
        value += value < 0 ? -0.5f : 0.5f;
        to[at] = !(value > -32768) ? -32768 : value >= 32767 ? 32767 : (int16_t)value;
    }
}
