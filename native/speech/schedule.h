/* How many frames are decoded at a time: as many as the sound that waits unplayed allows, by what
 * frames and chunks of this utterance took (docs/decisions/qwen3-chunks-grow.md). Pure: told the
 * time. */
#ifndef S2S_SCHEDULE_H
#define S2S_SCHEDULE_H

#include "names.h"

enum { MOST_CHUNK_FRAMES = 25 };

/* Milliseconds, from any beginning. */
typedef struct {
    int least;         /* frames of the first chunk, and the fewest of the others */
    int target;        /* frames of the next */
    double frame_ms;   /* what a frame lasts */
    double codes_ms;   /* what the codes of one take */
    double decode_ms;  /* what its sound takes */
    double free_ms;    /* when the last chunk was decoded */
    double until_ms;   /* when what was given out has been played */
    int playing;       /* something was given out */
} Schedule;

Schedule schedule_new(int first_chunk_frames, double frame_ms);

/* The codes of a frame took so long. */
void schedule_made(Schedule *schedule, double took_ms);

/* `waiting` frames wait to be decoded: whether they go out now. */
int schedule_due(const Schedule *schedule, int waiting, double now_ms);

/* So many frames were decoded, of which `heard` are heard, which took so long and ended now. */
void schedule_decoded(Schedule *schedule, int frames, int heard, double took_ms, double now_ms);

#endif
