/* Memory that runs out when it is asked to, for checks alone: included in front of everything
 * (-include), it takes the place of the functions that allocate, in the kernel and in the driver. */
#ifndef S2S_SCARCE_H
#define S2S_SCARCE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <malloc.h>
#else
#include <pthread.h>
#endif

/* From now on `left` allocations are granted and then none; none of more than MOST_BYTES either.
 * PLENTY grants all there are, of any size. Threads count as allocations. */
enum { PLENTY = -1, MOST_BYTES = 1 << 24 };
void scarce(int left);

/* Allocations refused since. */
int scarce_refused(void);

/* Bytes that are allocated, and pieces of memory. */
size_t scarce_bytes(void);
int scarce_pieces(void);

void *scarce_malloc(size_t bytes);
void *scarce_calloc(size_t count, size_t bytes);
void *scarce_realloc(void *memory, size_t bytes);
void scarce_free(void *memory);

#define malloc scarce_malloc
#define calloc scarce_calloc
#define realloc scarce_realloc
#define free scarce_free
#if defined(_WIN32)
#define _aligned_malloc scarce_aligned_malloc
#define _aligned_free scarce_aligned_free
#else
#define posix_memalign scarce_memalign
#define pthread_create scarce_thread
#endif

#if defined(_WIN32)
void *scarce_aligned_malloc(size_t bytes, size_t alignment);
void scarce_aligned_free(void *memory);
#else
int scarce_memalign(void **memory, size_t alignment, size_t bytes);
int scarce_thread(
    pthread_t *thread, const pthread_attr_t *how, void *(*main)(void *), void *argument);
#endif

#endif
