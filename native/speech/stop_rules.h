/* What stops speech that would not stop by itself, as s2s/tts/qwen3/engine/stop_rules.py has it. */
#ifndef S2S_STOP_RULES_H
#define S2S_STOP_RULES_H

#include <stdint.h>

#include "names.h"

enum { GRAM = 4, REPEATS = 6, REMEMBERED = GRAM * REPEATS };

/* silent [codes]: 1 for a first code that stands for silence. */
typedef struct {
    const uint8_t *silent;
    int limit; /* the most frames */
    int codes[REMEMBERED], frames, same, silent_frames;
} Watch;

/* The most frames for a text. */
int frames_for_text(int text_tokens);

/* Told each frame's first code. text_left: it was made before all of the text was fed. Returns why
 * to end after it, one of the header's above 0, or 0 to go on. */
int watch_after(Watch *watch, int code, int text_left);

/* Frames at the end that say nothing. */
int watch_trailing(const Watch *watch, int reason);

#endif
