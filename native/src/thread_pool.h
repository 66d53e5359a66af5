/* A thread pool for short parallel loops. Idle threads sleep. */
#ifndef S2S_THREAD_POOL_H
#define S2S_THREAD_POOL_H

#include <stdatomic.h>

#include "level.h"

enum { MAX_THREADS = 16 };

typedef struct ThreadPool ThreadPool;

/* What every thread executes; `thread` is from 0 to the number of threads less one. */
typedef void Job(void *work, ThreadPool *pool, int thread);

/* NULL when threads cannot be created. The caller of `pool_run` is thread 0. A pool lives until it
 * is freed as often as it was made and taken: whatever computes with it later takes it. */
S2S_API ThreadPool *pool_new(int threads);
ThreadPool *pool_take(ThreadPool *pool);
S2S_API void pool_free(ThreadPool *pool);
int pool_threads(const ThreadPool *pool);

/* What functions that compute return instead of 0, beside what else they say. */
enum { FORKED = -3 };

/* All threads execute `job` once; returns 0 when the last is done. Concurrent callers are served
 * one after the other. Between two runs less than AWAKE_NS apart the threads stay awake. FORKED, at
 * once, in another process than the one that made the pool. */
int pool_run(ThreadPool *pool, Job *job, void *work);

/* Inside a job: a barrier, which no thread leaves before all have reached it. */
void pool_barrier(ThreadPool *pool);

/* Inside a job: the next work item of `items` that no thread has taken yet, or -1. Each thread
 * begins with a contiguous range of its own, so that the same memory stays in its cache from run to
 * run, and then takes items of the others' ranges. `counters` are the work counters [threads] of
 * one such loop, zero when the job begins. */
int pool_next_item(ThreadPool *pool, atomic_int *counters, int thread, int items);

#endif
