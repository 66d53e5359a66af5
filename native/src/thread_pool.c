#include "thread_pool.h"

#include <stdint.h>

#include "platform.h"

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

typedef struct { ThreadPool *pool; int number; Thread thread; } PoolThread;

struct ThreadPool {
    int threads;
    int process;      /* that made it */
    atomic_int users; /* that have to free it yet */
    PoolThread workers[MAX_THREADS];
    Lock one_run; /* held during a run */
    Lock lock;    /* of `sleeping` and `waiting` */
    Condition wake, released;
    int sleeping, waiting; /* threads: between runs, at the barrier */
    Job *job;
    void *work;
    _Alignas(64) atomic_uint run; /* counts runs; a new value is the signal */
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint generation; /* counts releases of the barrier */
    atomic_int closing;
};

void pool_barrier(ThreadPool *pool)
{
    if (pool->threads == 1) return;
    unsigned generation = atomic_load_explicit(&pool->generation, memory_order_relaxed);
    if (atomic_fetch_add(&pool->arrived, 1) + 1 == (unsigned)pool->threads) {
        atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
        atomic_store(&pool->generation, generation + 1);
        lock_take(&pool->lock);
        if (pool->waiting) condition_wake_all(&pool->released);
        lock_give(&pool->lock);
        return;
    }
    for (int spins = 0; spins < SPINS_BEFORE_SLEEP; spins++) {
        if (atomic_load_explicit(&pool->generation, memory_order_acquire) != generation) return;
        RELAX();
    }
    /* The late thread has lost its core to another process: free this one for it. */
    lock_take(&pool->lock);
    pool->waiting++;
    while (atomic_load(&pool->generation) == generation)
        condition_wait(&pool->released, &pool->lock);
    pool->waiting--;
    lock_give(&pool->lock);
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
    lock_take(&pool->lock);
    pool->sleeping++;
    while ((run = atomic_load(&pool->run)) == seen) condition_wait(&pool->wake, &pool->lock);
    pool->sleeping--;
    lock_give(&pool->lock);
    return run;
}

static void worker_main(void *argument)
{
    PoolThread *self = argument;
    ThreadPool *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_run(pool, seen);
        if (atomic_load(&pool->closing)) return;
        pool->job(pool->work, pool, self->number);
        pool_barrier(pool);
    }
}

static void begin_run(ThreadPool *pool)
{
    atomic_fetch_add(&pool->run, 1);
    lock_take(&pool->lock);
    if (pool->sleeping) condition_wake_all(&pool->wake);
    lock_give(&pool->lock);
}

int pool_run(ThreadPool *pool, Job *job, void *work)
{
    if (pool->process != this_process()) return FORKED; /* its locks may be held for ever */
    lock_take(&pool->one_run);
    pool->job = job;
    pool->work = work;
    if (pool->threads > 1) begin_run(pool);
    job(work, pool, 0);
    pool_barrier(pool);
    lock_give(&pool->one_run);
    return 0;
}

ThreadPool *pool_new(int threads)
{
    ThreadPool *pool = aligned_new(sizeof *pool, 64);
    if (!pool) return NULL;
    *pool = (ThreadPool) { .threads = 1, .process = this_process(), .users = 1 };
    lock_new(&pool->one_run);
    lock_new(&pool->lock);
    condition_new(&pool->wake);
    condition_new(&pool->released);
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    for (int number = 1; number < threads; number++) {
        PoolThread *worker = &pool->workers[number];
        *worker = (PoolThread) { pool, number, { .main = worker_main, .argument = worker } };
        if (thread_start(&worker->thread)) {
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
        aligned_free(pool); /* there are no threads here to be waited for */
        return;
    }
    atomic_store(&pool->closing, 1);
    if (pool->threads > 1) begin_run(pool);
    for (int number = 1; number < pool->threads; number++)
        thread_join(&pool->workers[number].thread);
    condition_free(&pool->wake);
    condition_free(&pool->released);
    lock_free(&pool->lock);
    lock_free(&pool->one_run);
    aligned_free(pool);
}

int pool_threads(const ThreadPool *pool)
{
    return pool->threads;
}
