#include "speech.h"

#include <stdlib.h>
#include <string.h>

#include "utterance.h"

/* The numbers of section "generation", in this order. */
typedef struct {
    double talker_greedy, talker_temperature, talker_top_k, talker_top_p;
    double predictor_greedy, predictor_temperature, predictor_top_k, predictor_top_p;
    double repetition_penalty, min_new_tokens, max_new_tokens;
} Generation;

enum { MOST_NEW_TOKENS = 1 << 16, MOST_TOP_K = 1 << 21, PREFILL_ROWS = 32, SILENT_BYTES = 1 << 18 };

static int within(double value, double least, double most)
{
    return value >= least && value <= most;
}

/* --- settings --------------------------------------------------------------------------------- */

static int good_sampling(const s2s_qwen3_sampling *how)
{
    return how->greedy
           || (how->top_k >= 0 && how->top_k <= MOST_TOP_K && within(how->temperature, 1e-3, 1e3)
               && within(how->top_p, 1e-6, 1));
}

static int check_settings(const s2s_qwen3_request *request, Fault *fault)
{
    if (!good_sampling(&request->talker) || !good_sampling(&request->predictor))
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "sampling: temperature is from 0.001 to 1000, "
            "top_k not below 0, top_p above 0 and at most 1");
    if (!within(request->repetition_penalty, 1e-3, 1e3) || request->min_new_tokens < 0
        || request->max_new_tokens < 2 || request->max_new_tokens > MOST_NEW_TOKENS)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "repetition_penalty is from 0.001 to 1000, "
            "min_new_tokens not below 0, max_new_tokens from 2 to %d", MOST_NEW_TOKENS);
    if (request->first_chunk_frames < 1 || request->first_chunk_frames > MOST_CHUNK_FRAMES)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "first_chunk_frames is %d: from 1 to %d",
            (int)request->first_chunk_frames, MOST_CHUNK_FRAMES);
    return 0;
}

static int read_generation(Speaker *speaker, Fault *fault)
{
    Generation g;
    int status = file_read(&speaker->file, "generation", &g, sizeof g, fault);
    if (status) return status;
    if (!within(g.talker_top_k, 0, MOST_TOP_K) || !within(g.predictor_top_k, 0, MOST_TOP_K)
        || !within(g.min_new_tokens, 0, MOST_NEW_TOKENS)
        || !within(g.max_new_tokens, 2, MOST_NEW_TOKENS))
        return fail(fault, S2S_QWEN3_NO_FILE, "generation is damaged: pack the model again");
    speaker->facts.usual = (s2s_qwen3_request) {
        .size = sizeof(s2s_qwen3_request),
        .talker = { g.talker_greedy != 0, (int32_t)g.talker_top_k, g.talker_temperature,
            g.talker_top_p },
        .predictor = { g.predictor_greedy != 0, (int32_t)g.predictor_top_k,
            g.predictor_temperature, g.predictor_top_p },
        .repetition_penalty = g.repetition_penalty,
        .min_new_tokens = (int32_t)g.min_new_tokens,
        .max_new_tokens = (int32_t)g.max_new_tokens,
        .streaming = -1,
        .first_chunk_frames = 2,
    };
    return check_settings(&speaker->facts.usual, fault) ? S2S_QWEN3_NO_FILE : 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int read_silent(Speaker *speaker, Fault *fault)
{
    int count, codes = speaker->model.numbers.codes;
    int32_t *found = file_read_all(
        &speaker->file, "silent", SILENT_BYTES, sizeof *found, &count, fault);
    speaker->silent = calloc((size_t)codes, 1);
    int status = found && speaker->silent ? 0 : -1;
    if (found && !speaker->silent) fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a model");
    for (int at = 0; !status && at < count; at++)
        if (found[at] >= 0 && found[at] < codes) speaker->silent[found[at]] = 1;
    free(found);
    return status;
}

static float *new_floats(int64_t count)
{
    return calloc((size_t)count, sizeof(float));
}

/* hidden, prompt_hidden: [hidden] of the talker. logits: [codes + 1]. inputs: what goes into a
 * transformer and comes out, of up to PREFILL_ROWS positions. uniforms: those of a frame. */
static int new_buffers(Speaker *speaker, Fault *fault)
{
    const Numbers *n = &speaker->model.numbers;
    int hidden = speaker->model.talker.shape.hidden;
    int width = speaker->model.predictor.shape.hidden;
    speaker->hidden = new_floats(hidden);
    speaker->prompt_hidden = new_floats(hidden);
    speaker->logits = new_floats(n->codes + 1);
    speaker->inputs = new_floats((int64_t)PREFILL_ROWS * (hidden > width ? hidden : width));
    speaker->uniforms = new_floats(frame_uniforms(n->groups - 1, MAX_DRAFT_TOKENS));
    speaker->waiting = calloc((size_t)MOST_CHUNK_FRAMES * (size_t)n->groups, sizeof(int32_t));
    speaker->samples = new_floats((int64_t)MOST_CHUNK_FRAMES * speaker->codec.frame_samples);
    speaker->frame_cache = cache_new(speaker->model.predictor.transformer, n->groups + 1);
    if (!first_codes_new(&speaker->first, n->codes, n->eos, n->vocabulary) && speaker->hidden
        && speaker->prompt_hidden && speaker->logits && speaker->inputs && speaker->uniforms
        && speaker->waiting && speaker->samples && speaker->frame_cache)
        return 0;
    return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a model");
}

static int read_all(Speaker *speaker, const char *path, Fault *fault)
{
    const Numbers *n = &speaker->model.numbers;
    int status = file_open(&speaker->file, path, fault);
    if (!status) status = language_read(&speaker->model, &speaker->file, speaker->pool, fault);
    if (!status) status = codec_read(&speaker->codec, &speaker->file, speaker->pool, fault);
    if (!status
        && (speaker->codec.numbers.groups != n->groups || speaker->codec.numbers.codes < n->codes))
        status = fail(fault, S2S_QWEN3_NO_FILE, "the codec is of another model: pack it again");
    if (!status)
        status = tokenizer_read(&speaker->tokenizer, &speaker->file, n->text_rows, fault);
    if (!status) status = voices_read(&speaker->voices, &speaker->file, n->vocabulary, fault);
    if (!status) status = read_silent(speaker, fault);
    if (!status) status = read_generation(speaker, fault);
    return status ? status : new_buffers(speaker, fault);
}

static void close_speaker(Speaker *speaker)
{
    cache_free(speaker->talker_cache);
    cache_free(speaker->frame_cache);
    first_codes_free(&speaker->first);
    free(speaker->hidden);
    free(speaker->prompt_hidden);
    free(speaker->logits);
    free(speaker->inputs);
    free(speaker->uniforms);
    free(speaker->waiting);
    free(speaker->samples);
    free(speaker->silent);
    voices_free(&speaker->voices);
    tokenizer_free(&speaker->tokenizer);
    codec_free(&speaker->codec);
    language_free(&speaker->model);
    pool_free(speaker->pool);
    file_close(&speaker->file);
    free(speaker);
}

static Speaker *open_speaker(const char *path, const s2s_qwen3_options *options, Fault *fault)
{
    Speaker *speaker = calloc(1, sizeof *speaker);
    if (!speaker) {
        fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a model");
        return NULL;
    }
    atomic_flag_clear(&speaker->speaks);
    speaker->draft_tokens = options->draft_tokens;
    speaker->pool = pool_new(options->threads);
    if (!speaker->pool)
        fail(fault, S2S_QWEN3_NO_MEMORY, "%d threads cannot be had", (int)options->threads);
    if (!speaker->pool || read_all(speaker, path, fault)) {
        close_speaker(speaker);
        return NULL;
    }
    speaker->facts.sample_rate = speaker->model.numbers.sample_rate;
    speaker->facts.frame_samples = speaker->codec.frame_samples;
    speaker->facts.groups = speaker->model.numbers.groups;
    speaker->facts.voice_size = speaker->model.talker.shape.hidden;
    speaker->facts.voices = &speaker->voices;
    return speaker;
}

static const Facts *facts_of(const Speaker *speaker)
{
    return &speaker->facts;
}

/* --- speaking --------------------------------------------------------------------------------- */

static int speak_alone(Speaker *speaker, const s2s_qwen3_request *request,
    const s2s_qwen3_listener *listener, Fault *fault)
{
    Utterance utterance = { .speaker = speaker, .request = request, .listener = listener,
        .fault = fault,
        .reader = { &speaker->file, &speaker->model, &speaker->tokenizer, &speaker->voices },
        .how = { request->predictor.greedy != 0, request->predictor.top_k,
            (float)request->predictor.temperature, (float)request->predictor.top_p } };
    int status = prompt_build(&utterance.prompt, &utterance.reader, request, fault);
    if (!status) status = utterance_speak(&utterance);
    prompt_free(&utterance.prompt);
    return status;
}

static int busy(Fault *fault)
{
    return fail(fault, S2S_QWEN3_BUSY, "another thread speaks with this model: stop it, or wait");
}

static int speak(Speaker *speaker, const s2s_qwen3_request *request,
    const s2s_qwen3_listener *listener, Fault *fault)
{
    int status = check_settings(request, fault);
    if (status) return status;
    if (atomic_flag_test_and_set(&speaker->speaks)) return busy(fault);
    atomic_store(&speaker->stopped, 0);
    status = speak_alone(speaker, request, listener, fault);
    atomic_flag_clear(&speaker->speaks);
    return status;
}

static void stop(Speaker *speaker)
{
    atomic_store(&speaker->stopped, 1);
}

/* Reads what never changes, so that it may be called while another thread speaks. */
static int tokenize_alone(
    Speaker *speaker, const char *text, int32_t *ids, size_t room, Fault *fault)
{
    Tokens tokens = { 0 };
    size_t from = 0;
    int status = tokenize_text(&speaker->tokenizer, text, &tokens, &from, fault);
    size_t count = status ? 0 : tokens.count - from;
    if (!status) memcpy(ids, tokens.ids + from, (count < room ? count : room) * sizeof *ids);
    free(tokens.ids);
    return status ? status : (int)count;
}

const SpeechFunctions speech_functions
    = { open_speaker, close_speaker, facts_of, speak, stop, tokenize_alone };
