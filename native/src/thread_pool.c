#define _GNU_SOURCE
#include "thread_pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#if !defined(_WIN32)
#include <unistd.h>
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define RELAX() _mm_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("yield")
#else
#define RELAX() ((void)0)
#endif

/* SPINS_BEFORE_SLEEP, at a barrier: long enough for a thread that is a little late. One that was
 * descheduled is late by much more, and a spinning thread occupies the core that it needs.
 * AWAKE_NS, between runs: the products of one frame follow each other within this time, so that
 * only the first of them waits for threads to wake up. CHECK_CLOCK: spins between two readings of
 * the clock, which cost more than a spin. */
enum { SPINS_BEFORE_SLEEP = 1000, AWAKE_NS = 200000, CHECK_CLOCK = 64 };

typedef struct { ThreadPool *pool; int number; } PoolThread;

struct ThreadPool {
    int threads;
    int process;      /* that made it */
    atomic_int users; /* that have to free it yet */
    pthread_t handles[MAX_THREADS];
    PoolThread workers[MAX_THREADS];
    pthread_mutex_t one_run; /* held during a run */
    pthread_mutex_t lock;    /* of `sleeping` and `waiting` */
    pthread_cond_t wake, released;
    int sleeping, waiting; /* threads: between runs, at the barrier */
    Job *job;
    void *work;
    _Alignas(64) atomic_uint run; /* counts runs; a new value is the signal */
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint generation; /* counts releases of the barrier */
    atomic_int closing;
};

int this_process(void)
{
#if defined(_WIN32)
    return 0; /* there is no fork */
#else
    return (int)getpid();
#endif
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void pool_barrier(ThreadPool *pool)
{
    if (pool->threads == 1) return;
    unsigned generation = atomic_load_explicit(&pool->generation, memory_order_relaxed);
    if (atomic_fetch_add(&pool->arrived, 1) + 1 == (unsigned)pool->threads) {
        atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
        atomic_store(&pool->generation, generation + 1);
        pthread_mutex_lock(&pool->lock);
        if (pool->waiting) pthread_cond_broadcast(&pool->released);
        pthread_mutex_unlock(&pool->lock);
        return;
    }
    for (int spins = 0; spins < SPINS_BEFORE_SLEEP; spins++) {
        if (atomic_load_explicit(&pool->generation, memory_order_acquire) != generation) return;
        RELAX();
    }
    /* The late thread has lost its core to another process: free this one for it. */
    pthread_mutex_lock(&pool->lock);
    pool->waiting++;
    while (atomic_load(&pool->generation) == generation)
        pthread_cond_wait(&pool->released, &pool->lock);
    pool->waiting--;
    pthread_mutex_unlock(&pool->lock);
}

int pool_next_item(ThreadPool *pool, atomic_int *counters, int thread, int items)
{
    for (int distance = 0; distance < pool->threads; distance++) {
        int owner = (thread + distance) % pool->threads;
        int begin = (int)((int64_t)items * owner / pool->threads);
        int end = (int)((int64_t)items * (owner + 1) / pool->threads);
        if (begin + atomic_load_explicit(counters + owner, memory_order_relaxed) >= end) continue;
        int item = begin + atomic_fetch_add_explicit(counters + owner, 1, memory_order_relaxed);
        if (item < end) return item;
    }
    return -1;
}

/* Waits for a run after `seen`: spinning for AWAKE_NS, then sleeping. */
static unsigned wait_for_run(ThreadPool *pool, unsigned seen)
{
    unsigned run;
    int64_t until = now_ns() + AWAKE_NS;
    for (int spins = 1;; spins++) {
        run = atomic_load_explicit(&pool->run, memory_order_acquire);
        if (run != seen) return run;
        RELAX();
        if (spins % CHECK_CLOCK == 0 && now_ns() > until) break;
    }
    pthread_mutex_lock(&pool->lock);
    pool->sleeping++;
    while ((run = atomic_load(&pool->run)) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    pool->sleeping--;
    pthread_mutex_unlock(&pool->lock);
    return run;
}

static void *worker_main(void *argument)
{
    PoolThread *self = argument;
    ThreadPool *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_run(pool, seen);
        if (atomic_load(&pool->closing)) return NULL;
        pool->job(pool->work, pool, self->number);
        pool_barrier(pool);
    }
}

static void begin_run(ThreadPool *pool)
{
    atomic_fetch_add(&pool->run, 1);
    pthread_mutex_lock(&pool->lock);
    if (pool->sleeping) pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

int pool_run(ThreadPool *pool, Job *job, void *work)
{
    if (pool->process != this_process()) return FORKED; /* its locks may be held for ever */
    pthread_mutex_lock(&pool->one_run);
    pool->job = job;
    pool->work = work;
    if (pool->threads > 1) begin_run(pool);
    job(work, pool, 0);
    pool_barrier(pool);
    pthread_mutex_unlock(&pool->one_run);
    return 0;
}

ThreadPool *pool_new(int threads)
{
    ThreadPool *pool = aligned_alloc(64, (sizeof *pool + 63) / 64 * 64);
    if (!pool) return NULL;
    *pool = (ThreadPool) { .threads = 1, .process = this_process(), .users = 1 };
    pthread_mutex_init(&pool->one_run, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->released, NULL);
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    for (int number = 1; number < threads; number++) {
        pool->workers[number] = (PoolThread) { pool, number };
        if (pthread_create(&pool->handles[number], NULL, worker_main, &pool->workers[number])) {
            pool_free(pool);
            return NULL;
        }
        pool->threads = number + 1;
    }
    return pool;
}

ThreadPool *pool_take(ThreadPool *pool)
{
    atomic_fetch_add(&pool->users, 1);
    return pool;
}

void pool_free(ThreadPool *pool)
{
    if (!pool || atomic_fetch_sub(&pool->users, 1) > 1) return;
    if (pool->process != this_process()) {
        free(pool); /* there are no threads here to be waited for */
        return;
    }
    atomic_store(&pool->closing, 1);
    if (pool->threads > 1) begin_run(pool);
    for (int number = 1; number < pool->threads; number++)
        pthread_join(pool->handles[number], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->released);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->one_run);
    free(pool);
}

int pool_threads(const ThreadPool *pool)
{
    return pool->threads;
}
