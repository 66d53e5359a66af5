/* A few threads that work on one thing together and sleep when there is nothing to do. */
#ifndef S2S_TEAM_H
#define S2S_TEAM_H

#include <stdatomic.h>

enum { MAX_THREADS = 16 };

typedef struct Team Team;

/* What every thread does; `thread` is from 0 to one less than there are. */
typedef void Job(void *work, Team *team, int thread);

/* NULL when threads cannot be had. The caller of `team_run` is thread 0. */
Team *team_new(int threads);
void team_free(Team *team);
int team_threads(const Team *team);

/* All threads run `job` once; returns when the last is done. Calls from several threads take
 * turns. Between two runs that follow within a fraction of a millisecond the threads stay awake. */
void team_run(Team *team, Job *job, void *work);

/* Inside a job: no thread goes on before all have come here. */
void team_meet(Team *team);

/* Inside a job: the next piece of `pieces` that nobody has done yet, or -1. Each thread begins
 * with a stretch of its own and then helps the others. `turns` must be zero when the job begins,
 * [threads] for each such piece of work. */
int team_next(Team *team, atomic_int *turns, int thread, int pieces);

#endif
