#include "schedule.h"

/* SPARE: by which a chunk may take longer than it is thought to. LONGEST_MS: a chunk, as longer ones
 * gain nothing. UP, DOWN: how fast an estimate follows what takes longer, and less. MOST: a frame that
 * took so many times as long lost its core. As chunk_schedule.py has them. */
static const double SPARE = 0.5, LONGEST_MS = 250, UP = 0.25, DOWN = 0.1, MOST = 3;

static double follow(double estimate_ms, double took_ms)
{
    if (estimate_ms <= 0) return took_ms;
    if (took_ms > MOST * estimate_ms) took_ms = MOST * estimate_ms;
    return estimate_ms + (took_ms > estimate_ms ? UP : DOWN) * (took_ms - estimate_ms);
}

Schedule schedule_new(int first_chunk_frames, double frame_ms)
{
    return (Schedule) {
        .least = first_chunk_frames, .target = first_chunk_frames, .frame_ms = frame_ms };
}

void schedule_made(Schedule *schedule, double took_ms)
{
    schedule->codes_ms = follow(schedule->codes_ms, took_ms);
}

int schedule_due(const Schedule *schedule, int waiting, double now_ms)
{
    double takes_ms = schedule->codes_ms + (waiting + 1) * schedule->decode_ms;
    if (waiting >= schedule->target) return 1;
    return schedule->playing && waiting >= schedule->least
           && now_ms + (1 + SPARE) * takes_ms > schedule->until_ms;
}

void schedule_decoded(Schedule *schedule, int frames, int heard, double took_ms, double now_ms)
{
    int size = MOST_CHUNK_FRAMES;
    schedule->decode_ms = follow(schedule->decode_ms, took_ms / frames);
    schedule->free_ms = now_ms;
    if (!heard && !schedule->playing) return;
    if (!schedule->playing || schedule->until_ms < now_ms) schedule->until_ms = now_ms;
    schedule->playing = 1;
    schedule->until_ms += heard * schedule->frame_ms;
    for (; size > schedule->least; size--) {
        double decode_ms = size * schedule->decode_ms;
        double takes_ms = size * schedule->codes_ms + decode_ms;
        if (decode_ms <= LONGEST_MS && now_ms + (1 + SPARE) * takes_ms <= schedule->until_ms) break;
    }
    schedule->target = size;
}
