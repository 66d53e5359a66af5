#define _GNU_SOURCE
#include "thread_pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define RELAX() _mm_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("yield")
#else
#define RELAX() ((void)0)
#endif

/* Long enough for a thread that is a little behind; one that lost its core is behind for much
 * longer, and whoever spins then keeps it from getting another. */
enum { SPINS_BEFORE_SLEEP = 1000, AWAKE_NS = 200000, CHECK_CLOCK = 64 };

typedef struct { Team *team; int number; } Member;

struct Team {
    int threads;
    pthread_t handles[MAX_THREADS];
    Member members[MAX_THREADS];
    pthread_mutex_t one_run; /* held during a run */
    pthread_mutex_t lock;    /* of the counts of who sleeps */
    pthread_cond_t wake, met;
    int asleep, waiting;
    Job *job;
    void *work;
    _Alignas(64) atomic_uint run; /* counts runs; a new value is the signal */
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint meeting;
    atomic_int closing;
};

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void team_meet(Team *team)
{
    if (team->threads == 1) return;
    unsigned meeting = atomic_load_explicit(&team->meeting, memory_order_relaxed);
    if (atomic_fetch_add(&team->arrived, 1) + 1 == (unsigned)team->threads) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        atomic_store(&team->meeting, meeting + 1);
        pthread_mutex_lock(&team->lock);
        if (team->waiting) pthread_cond_broadcast(&team->met);
        pthread_mutex_unlock(&team->lock);
        return;
    }
    for (int spins = 0; spins < SPINS_BEFORE_SLEEP; spins++) {
        if (atomic_load_explicit(&team->meeting, memory_order_acquire) != meeting) return;
        RELAX();
    }
    /* The other one has lost its core to somebody else: it may have this one. */
    pthread_mutex_lock(&team->lock);
    team->waiting++;
    while (atomic_load(&team->meeting) == meeting) pthread_cond_wait(&team->met, &team->lock);
    team->waiting--;
    pthread_mutex_unlock(&team->lock);
}

int team_next(Team *team, atomic_int *turns, int thread, int pieces)
{
    for (int away = 0; away < team->threads; away++) {
        int owner = (thread + away) % team->threads;
        int begin = (int)((int64_t)pieces * owner / team->threads);
        int end = (int)((int64_t)pieces * (owner + 1) / team->threads);
        if (begin + atomic_load_explicit(turns + owner, memory_order_relaxed) >= end) continue;
        int piece = begin + atomic_fetch_add_explicit(turns + owner, 1, memory_order_relaxed);
        if (piece < end) return piece;
    }
    return -1;
}

/* Waits for a run after `seen`: awake for a moment, then asleep. */
static unsigned next_run(Team *team, unsigned seen)
{
    unsigned run;
    int64_t until = now_ns() + AWAKE_NS;
    for (int spins = 1;; spins++) {
        run = atomic_load_explicit(&team->run, memory_order_acquire);
        if (run != seen) return run;
        RELAX();
        if (spins % CHECK_CLOCK == 0 && now_ns() > until) break;
    }
    pthread_mutex_lock(&team->lock);
    team->asleep++;
    while ((run = atomic_load(&team->run)) == seen) pthread_cond_wait(&team->wake, &team->lock);
    team->asleep--;
    pthread_mutex_unlock(&team->lock);
    return run;
}

static void *member(void *given)
{
    Member *me = given;
    Team *team = me->team;
    unsigned seen = 0;
    for (;;) {
        seen = next_run(team, seen);
        if (atomic_load(&team->closing)) return NULL;
        team->job(team->work, team, me->number);
        team_meet(team);
    }
}

static void begin_run(Team *team)
{
    atomic_fetch_add(&team->run, 1);
    pthread_mutex_lock(&team->lock);
    if (team->asleep) pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

void team_run(Team *team, Job *job, void *work)
{
    pthread_mutex_lock(&team->one_run);
    team->job = job;
    team->work = work;
    if (team->threads > 1) begin_run(team);
    job(work, team, 0);
    team_meet(team);
    pthread_mutex_unlock(&team->one_run);
}

Team *team_new(int threads)
{
    Team *team = aligned_alloc(64, (sizeof *team + 63) / 64 * 64);
    if (!team) return NULL;
    *team = (Team) { .threads = 1 };
    pthread_mutex_init(&team->one_run, NULL);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->met, NULL);
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    for (int number = 1; number < threads; number++) {
        team->members[number] = (Member) { team, number };
        if (pthread_create(&team->handles[number], NULL, member, &team->members[number])) {
            team_free(team);
            return NULL;
        }
        team->threads = number + 1;
    }
    return team;
}

void team_free(Team *team)
{
    if (!team) return;
    atomic_store(&team->closing, 1);
    if (team->threads > 1) begin_run(team);
    for (int number = 1; number < team->threads; number++)
        pthread_join(team->handles[number], NULL);
    pthread_cond_destroy(&team->wake);
    pthread_cond_destroy(&team->met);
    pthread_mutex_destroy(&team->lock);
    pthread_mutex_destroy(&team->one_run);
    free(team);
}

int team_threads(const Team *team)
{
    return team->threads;
}
