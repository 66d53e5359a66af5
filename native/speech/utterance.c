#include "utterance.h"

#include <math.h>
#include <string.h>

#include "platform.h"

/* PREFILL: positions of a prompt between two questions whether to stop. RETRIES: of a start in a
 * repetition loop, when nothing of it was heard. */
enum { PREFILL = 32, RETRIES = 2, ROOM_STEP = 256 };

static double now_ms(void)
{
    return (double)now_ns() / 1e6;
}

static int fault_of(Utterance *utterance, int status)
{
    if (status == FORKED)
        return fail(utterance->fault, S2S_QWEN3_FORKED,
            "the process was forked after the model was opened: open it behind the fork");
    return fail(utterance->fault, S2S_QWEN3_NO_MEMORY, "no memory for a frame");
}

int is_stopped(const Utterance *utterance)
{
    Speaker *speaker = utterance->speaker;
    const s2s_qwen3_listener *listener = utterance->listener;
    if (!atomic_load(&speaker->stopped) && listener->stop && listener->stop(listener->user))
        atomic_store(&speaker->stopped, 1);
    return atomic_load(&speaker->stopped);
}

/* --- the talker ------------------------------------------------------------------------------- */

/* Appends positions; the last one's hidden vector goes into `hidden`. */
static int feed(Utterance *utterance, const float *vectors, int count, float *out)
{
    Speaker *speaker = utterance->speaker;
    size_t width = (size_t)speaker->model.talker.shape.hidden;
    int status = transformer_forward(
        speaker->model.talker.transformer, speaker->talker_cache, vectors, count, out);
    if (status) return fault_of(utterance, status);
    memcpy(speaker->hidden, out + (size_t)(count - 1) * width, width * sizeof *out);
    return 0;
}

static int prefill(Utterance *utterance)
{
    const Prompt *prompt = &utterance->prompt;
    Speaker *speaker = utterance->speaker;
    size_t width = (size_t)speaker->model.talker.shape.hidden;
    for (int done = 0, some; done < prompt->positions; done += some) {
        some = prompt->positions - done < PREFILL ? prompt->positions - done : PREFILL;
        if (is_stopped(utterance)) return S2S_QWEN3_STOPPED;
        int status = feed(utterance, prompt->vectors + (size_t)done * width, some, speaker->inputs);
        if (status) return status;
    }
    memcpy(speaker->prompt_hidden, speaker->hidden, width * sizeof(float));
    return 0;
}

/* Logits of the first code, and of the end of speech behind them. */
static int predict(Utterance *utterance)
{
    Speaker *speaker = utterance->speaker;
    int codes = speaker->model.numbers.codes, width = speaker->model.talker.shape.hidden;
    int status = matrix_product(
        speaker->pool, speaker->model.head.each[0], speaker->hidden, speaker->logits);
    if (status) return fault_of(utterance, status);
    int good = 1;
    for (int at = 0; at < width; at++) good = good && isfinite(speaker->hidden[at]);
    for (int at = 0; at <= codes; at++) good = good && speaker->logits[at] < INFINITY;
    return good ? 0
                : fail(utterance->fault, S2S_QWEN3_NO_NUMBER,
                    "the talker computed what is no number: pack the model again");
}

/* --- a frame ---------------------------------------------------------------------------------- */

/* The other codes of a frame behind the first one. */
static int choose_rest(Utterance *utterance, int32_t *codes)
{
    Speaker *speaker = utterance->speaker;
    const LanguageModel *model = &speaker->model;
    const float below_one = 0x1.fffffep-1f; /* rounding must not reach it */
    int groups = model->numbers.groups - 1, drafts = speaker->draft_tokens;
    int count = utterance->how.greedy ? 0 : frame_uniforms(groups, drafts);
    int status = predictor_input(model, &speaker->file, speaker->pool, speaker->hidden, codes[0],
        speaker->inputs, utterance->fault);
    if (status) return status;
    for (int at = 0; at < count; at++) {
        float number = (float)random_uniform(&utterance->random);
        speaker->uniforms[at] = number < below_one ? number : below_one;
    }
    status = choose_frame(&model->frame, speaker->frame_cache, speaker->inputs, drafts,
        &utterance->how, speaker->uniforms, codes + 1);
    return status < 0 ? fault_of(utterance, status) : 0;
}

/* The talker is fed the frame that was chosen, and the text that goes with it. */
static int step(Utterance *utterance, int frame, const int32_t *codes)
{
    Speaker *speaker = utterance->speaker;
    float *out = speaker->inputs + speaker->model.talker.shape.hidden;
    int status = frame_vector(
        &speaker->model, &speaker->file, codes, speaker->inputs, utterance->fault);
    if (!status)
        status = add_text_of_frame(&utterance->prompt, &utterance->reader, frame, speaker->inputs,
            utterance->fault);
    if (!status) status = feed(utterance, speaker->inputs, 1, out);
    return status ? status : predict(utterance);
}

/* Frame `frame`, of which `codes` has the first code, was chosen. why: to end after it, or 0.
 * Returns 0, why it ends, or a fault. */
static int follow(Utterance *utterance, int frame, int32_t *codes, double began_ms)
{
    int trailing, status = 0;
    int reason = watch_after(&utterance->watch, codes[0], text_left(&utterance->prompt, frame));
    trailing = reason ? watch_trailing(&utterance->watch, reason) : 0;
    if (!trailing) utterance->waiting++;
    if (frame) schedule_made(&utterance->schedule, now_ms() - began_ms);
    if (trailing > 1) /* of those before it as many as wait say nothing either */
        utterance->waiting -= trailing - 1 < utterance->waiting ? trailing - 1 : utterance->waiting;
    if (reason || utterance->waiting == MOST_CHUNK_FRAMES
        || (utterance->waiting && schedule_due(&utterance->schedule, utterance->waiting, now_ms())))
        if (reason != S2S_QWEN3_REPEATING || utterance->heard) status = sound_waiting(utterance);
    return status ? status : reason;
}

/* One run from the prompt to the end. Returns as s2s_qwen3_speak. */
static int sample(Utterance *utterance)
{
    Speaker *speaker = utterance->speaker;
    int groups = speaker->model.numbers.groups, end = speaker->model.numbers.codes, status = 0;
    double began_ms = now_ms();
    for (int frame = 0; !status; frame++) {
        int32_t codes[128];
        if (is_stopped(utterance)) return S2S_QWEN3_STOPPED;
        codes[0] = first_codes_choose(&speaker->first, speaker->logits);
        if (codes[0] == end) return sound_waiting(utterance);
        status = choose_rest(utterance, codes);
        if (status) break;
        memcpy(speaker->waiting + utterance->waiting * groups, codes,
            (size_t)groups * sizeof *codes);
        status = follow(utterance, frame, codes, began_ms);
        if (!status && is_stopped(utterance)) status = S2S_QWEN3_STOPPED;
        began_ms = now_ms();
        if (!status) status = step(utterance, frame, codes);
    }
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Room for the prompt and all frames. */
static int make_room(Utterance *utterance)
{
    Speaker *speaker = utterance->speaker;
    int wanted = utterance->prompt.positions + utterance->limit;
    if (speaker->room >= wanted) {
        cache_rewind(speaker->talker_cache, 0);
        return 0;
    }
    cache_free(speaker->talker_cache);
    speaker->room = (wanted + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
    speaker->talker_cache = cache_new(speaker->model.talker.transformer, speaker->room);
    if (speaker->talker_cache) return 0;
    speaker->room = 0;
    return fail(utterance->fault, S2S_QWEN3_NO_MEMORY, "no memory for %d positions", wanted);
}

/* The most frames, by the text, the settings and the positions that the model was trained for. */
static int find_limit(Utterance *utterance)
{
    int limit = frames_for_text(utterance->prompt.text_tokens);
    int room = utterance->speaker->model.numbers.max_positions - utterance->prompt.positions;
    int asked = utterance->request->max_new_tokens - 1;
    limit = limit < room ? limit : room;
    utterance->limit = limit < asked ? limit : asked;
    if (utterance->limit > 0) return 0;
    return fail(utterance->fault, S2S_QWEN3_NO_ARGUMENT, "a prompt of %d positions leaves no room "
        "to speak", utterance->prompt.positions);
}

/* The settings of a run; other random numbers for each. */
static void begin_run(Utterance *utterance, int run)
{
    Speaker *speaker = utterance->speaker;
    const s2s_qwen3_request *request = utterance->request;
    FirstCodes *first = &speaker->first;
    double frame_ms = 1e3 * speaker->facts.frame_samples / speaker->facts.sample_rate;
    first->how = request->talker;
    first->repetition_penalty = (float)request->repetition_penalty;
    first->min_new_tokens = request->min_new_tokens;
    random_seed(&first->random, request->seed, 2 * (uint64_t)run);
    random_seed(&utterance->random, request->seed, 2 * (uint64_t)run + 1);
    first_codes_begin(first);
    utterance->schedule = schedule_new(request->first_chunk_frames, frame_ms);
    utterance->watch = (Watch) { .silent = speaker->silent, .limit = utterance->limit };
    utterance->waiting = utterance->heard = utterance->started = 0;
    utterance->trim_left = request->untouched ? 0 : 6; /* StartTrim of edges.py */
    codec_begin(&speaker->codec);
}

int utterance_speak(Utterance *utterance)
{
    Speaker *speaker = utterance->speaker;
    size_t width = (size_t)speaker->model.talker.shape.hidden;
    int greedy = utterance->request->talker.greedy && utterance->request->predictor.greedy;
    int last = greedy ? 0 : RETRIES, status = find_limit(utterance);
    if (!status) status = make_room(utterance);
    if (!status) status = prefill(utterance);
    for (int run = 0; !status; run++) {
        memcpy(speaker->hidden, speaker->prompt_hidden, width * sizeof(float));
        begin_run(utterance, run);
        status = predict(utterance);
        if (status) break;
        status = sample(utterance);
        if (status != S2S_QWEN3_REPEATING || utterance->heard) break;
        if (run == last) {
            int sounded = sound_waiting(utterance);
            status = sounded ? sounded : status;
            break;
        }
        cache_rewind(speaker->talker_cache, utterance->prompt.positions);
        status = 0;
    }
    return status;
}
