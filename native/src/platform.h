/* What systems have under different names: locks, threads, the clock, aligned memory. */
#ifndef S2S_PLATFORM_H
#define S2S_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#include "level.h"

#if defined(_WIN32)
typedef struct { void *state; } Lock;      /* SRWLOCK */
typedef struct { void *state; } Condition; /* CONDITION_VARIABLE */
typedef void *ThreadHandle;
#else
#include <pthread.h>
typedef pthread_mutex_t Lock;
typedef pthread_cond_t Condition;
typedef pthread_t ThreadHandle;
#endif

void lock_new(Lock *lock);
void lock_free(Lock *lock);
void lock_take(Lock *lock);
void lock_give(Lock *lock);

void condition_new(Condition *condition);
void condition_free(Condition *condition);
/* Gives the lock while it waits; may return early. */
void condition_wait(Condition *condition, Lock *lock);
void condition_wake_all(Condition *condition);

/* main(argument) in a thread of its own; `handle` belongs to the two functions. */
typedef struct {
    void (*main)(void *argument);
    void *argument;
    ThreadHandle handle;
} Thread;

/* `thread` must stay where it is until it is joined. Returns 0, or -1 when there are no threads. */
int thread_start(Thread *thread);
void thread_join(Thread *thread);

/* The number of this process, in whose forks there are none of its threads; 0 where processes do not
 * fork. */
int this_process(void);

/* Nanoseconds of a clock that never goes back. */
int64_t now_ns(void);

/* alignment: a power of two, a multiple of sizeof(void *). In large pages where the system gives
 * them for the asking. NULL: no memory. */
void *aligned_new(size_t bytes, size_t alignment);
void aligned_free(void *memory);

#endif
