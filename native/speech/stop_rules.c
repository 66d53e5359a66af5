#include "stop_rules.h"

#include "s2s_qwen3.h"

/* In frames of 80 ms; the reasons are in stop_rules.py and speech_time.py. */
enum {
    FRAMES_PER_TOKEN = 8, SPARE_FRAMES = 25, LEAST_FRAMES = 50, SILENT_FRAMES = 12, SAME_FRAMES = 20
};

int frames_for_text(int text_tokens)
{
    int frames = SPARE_FRAMES + FRAMES_PER_TOKEN * text_tokens;
    return frames > LEAST_FRAMES ? frames : LEAST_FRAMES;
}

/* The code that was told so many frames ago. */
static int code_before(const Watch *watch, int ago)
{
    return watch->codes[(watch->frames - 1 - ago) % REMEMBERED];
}

/* The last codes are one group of GRAM, repeated, and not one code alone. */
static int loops(const Watch *watch)
{
    int differ = 0;
    if (watch->frames < REMEMBERED) return 0;
    for (int at = 0; at < REMEMBERED; at++) {
        differ |= watch->codes[at] != watch->codes[0];
        if (at >= GRAM && code_before(watch, at) != code_before(watch, at - GRAM)) return 0;
    }
    return differ;
}

int watch_after(Watch *watch, int code, int text_left)
{
    int repeated = watch->frames && code_before(watch, 0) == code, silent = watch->silent[code];
    watch->same = repeated ? watch->same + 1 : 1;
    watch->silent_frames = silent && !text_left ? watch->silent_frames + 1 : 0;
    watch->codes[watch->frames++ % REMEMBERED] = code;
    if (watch->silent_frames >= SILENT_FRAMES && watch->frames >= watch->limit / 2)
        return S2S_QWEN3_SILENT;
    if ((watch->same >= SAME_FRAMES && !silent) || loops(watch)) return S2S_QWEN3_REPEATING;
    return watch->frames >= watch->limit ? S2S_QWEN3_CUT : 0;
}

int watch_trailing(const Watch *watch, int reason)
{
    int remembered = watch->frames < REMEMBERED ? watch->frames : REMEMBERED;
    if (reason == S2S_QWEN3_SILENT) return watch->silent_frames;
    if (reason == S2S_QWEN3_REPEATING) return watch->same > 1 ? watch->same : remembered - GRAM;
    return 0;
}
