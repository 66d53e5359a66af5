#define _GNU_SOURCE
#include "platform.h"

#if defined(_WIN32)

#include <malloc.h>
#include <process.h>
#include <windows.h>

_Static_assert(sizeof(Lock) == sizeof(SRWLOCK), "a lock");
_Static_assert(sizeof(Condition) == sizeof(CONDITION_VARIABLE), "a condition");

void lock_new(Lock *lock)
{
    InitializeSRWLock((SRWLOCK *)lock);
}

void lock_free(Lock *lock)
{
    (void)lock;
}

void lock_take(Lock *lock)
{
    AcquireSRWLockExclusive((SRWLOCK *)lock);
}

void lock_give(Lock *lock)
{
    ReleaseSRWLockExclusive((SRWLOCK *)lock);
}

void condition_new(Condition *condition)
{
    InitializeConditionVariable((CONDITION_VARIABLE *)condition);
}

void condition_free(Condition *condition)
{
    (void)condition;
}

void condition_wait(Condition *condition, Lock *lock)
{
    SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)lock, INFINITE, 0);
}

void condition_wake_all(Condition *condition)
{
    WakeAllConditionVariable((CONDITION_VARIABLE *)condition);
}

static unsigned __stdcall main_of(void *started)
{
    Thread *thread = started;
    thread->main(thread->argument);
    return 0;
}

int thread_start(Thread *thread)
{
    thread->handle = (void *)_beginthreadex(NULL, 0, main_of, thread, 0, NULL);
    return thread->handle ? 0 : -1;
}

void thread_join(Thread *thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

int this_process(void)
{
    return 0;
}

int64_t now_ns(void)
{
    LARGE_INTEGER count, second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&second);
    return count.QuadPart / second.QuadPart * 1000000000
           + count.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}

void *aligned_new(size_t bytes, size_t alignment)
{
    return _aligned_malloc(bytes, alignment);
}

void aligned_free(void *memory)
{
    _aligned_free(memory);
}

#else

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void lock_new(Lock *lock)
{
    pthread_mutex_init(lock, NULL);
}

void lock_free(Lock *lock)
{
    pthread_mutex_destroy(lock);
}

void lock_take(Lock *lock)
{
    pthread_mutex_lock(lock);
}

void lock_give(Lock *lock)
{
    pthread_mutex_unlock(lock);
}

void condition_new(Condition *condition)
{
    pthread_cond_init(condition, NULL);
}

void condition_free(Condition *condition)
{
    pthread_cond_destroy(condition);
}

void condition_wait(Condition *condition, Lock *lock)
{
    pthread_cond_wait(condition, lock);
}

void condition_wake_all(Condition *condition)
{
    pthread_cond_broadcast(condition);
}

static void *main_of(void *started)
{
    Thread *thread = started;
    thread->main(thread->argument);
    return NULL;
}

int thread_start(Thread *thread)
{
    return pthread_create(&thread->handle, NULL, main_of, thread) ? -1 : 0;
}

void thread_join(Thread *thread)
{
    pthread_join(thread->handle, NULL);
}

int this_process(void)
{
    return (int)getpid();
}

int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void *aligned_new(size_t bytes, size_t alignment)
{
    void *memory;
    if (posix_memalign(&memory, alignment, bytes)) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE); /* advice only: small pages are slower, not wrong */
#endif
    return memory;
}

void aligned_free(void *memory)
{
    free(memory);
}

#endif
