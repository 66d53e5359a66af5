/* From the frames of an utterance to what its listener hears. */
#include <math.h>
#include <string.h>

#include "platform.h"
#include "utterance.h"

/* StartTrim of edges.py. */
static const double SILENCE_DBFS = -60, FADE_IN_MS = 5;

/* Who speaks in this thread: the decoder asks without saying for whom. */
static _Thread_local const Utterance *speaking;

static int is_stale(void)
{
    return is_stopped(speaking);
}

static double now_ms(void)
{
    return (double)now_ns() / 1e6;
}

/* Frames at the beginning that are silent and left out. */
static int trim_start(Utterance *utterance, int frames)
{
    int each = utterance->speaker->facts.frame_samples, left_out = 0;
    double most = pow(10, SILENCE_DBFS / 20);
    for (; !utterance->started && left_out < frames && utterance->trim_left; left_out++) {
        const float *samples = utterance->speaker->samples + (ptrdiff_t)left_out * each;
        double power = 0;
        for (int at = 0; at < each; at++) power += (double)samples[at] * (double)samples[at];
        if (sqrt(power / each) > most) break;
        utterance->trim_left--;
    }
    return left_out;
}

static void fade_in(const Utterance *utterance, float *samples, ptrdiff_t count)
{
    long fade = lrint(FADE_IN_MS * utterance->speaker->facts.sample_rate / 1000);
    if (utterance->request->untouched) return;
    for (ptrdiff_t at = 0; at < fade && at < count; at++) samples[at] *= (float)at / (float)fade;
}

/* Tells the listener codes and samples of frames. Returns 0 or STOPPED. */
static int tell(Utterance *utterance, int first, int frames)
{
    const s2s_qwen3_listener *listener = utterance->listener;
    Speaker *speaker = utterance->speaker;
    int groups = speaker->facts.groups, each = speaker->facts.frame_samples, ended = 0;
    float *samples = speaker->samples + (ptrdiff_t)first * each;
    if (!utterance->started) fade_in(utterance, samples, (ptrdiff_t)(frames - first) * each);
    utterance->started = utterance->heard = 1;
    for (int at = first; listener->frame && !ended && at < frames; at++)
        ended = listener->frame(
            listener->user, speaker->waiting + (ptrdiff_t)at * groups, (size_t)groups);
    if (listener->sound && !ended)
        ended = listener->sound(
            listener->user, samples, (size_t)(frames - first) * (size_t)each);
    if (!ended) return 0;
    atomic_store(&speaker->stopped, 1);
    return S2S_QWEN3_STOPPED;
}

int sound_waiting(Utterance *utterance)
{
    Speaker *speaker = utterance->speaker;
    int frames = utterance->waiting;
    double began_ms = now_ms();
    if (!frames) return 0;
    if (is_stopped(utterance)) return S2S_QWEN3_STOPPED;
    speaking = utterance;
    int status = codec_decode(
        &speaker->codec, speaker->waiting, frames, is_stale, speaker->samples, utterance->fault);
    speaking = NULL;
    if (status < 0) return status;
    if (status || is_stopped(utterance)) return S2S_QWEN3_STOPPED;
    double ended_ms = now_ms();
    for (ptrdiff_t at = 0; at < (ptrdiff_t)frames * speaker->facts.frame_samples; at++)
        if (!isfinite(speaker->samples[at]))
            return fail(utterance->fault, S2S_QWEN3_NO_NUMBER,
                "the codec made sound that is no number: pack the model again");
    int first = trim_start(utterance, frames);
    utterance->waiting = 0;
    schedule_decoded(
        &utterance->schedule, frames, frames - first, ended_ms - began_ms, ended_ms);
    return first < frames ? tell(utterance, first, frames) : 0;
}
