#include "scarce.h"

#undef malloc
#undef calloc
#undef realloc
#undef free
#undef _aligned_malloc
#undef _aligned_free
#undef posix_memalign
#undef pthread_create

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PIECES = 1 << 17 };

static struct { void *memory; size_t bytes; } pieces[MOST_PIECES];
static int piece_count, granted = PLENTY, refused;
static size_t all_bytes;

void scarce(int left)
{
    granted = left;
    refused = 0;
}

int scarce_refused(void)
{
    return refused;
}

size_t scarce_bytes(void)
{
    return all_bytes;
}

int scarce_pieces(void)
{
    return piece_count;
}

/* Whether an allocation of so many bytes is granted. */
static int is_granted(size_t bytes)
{
    if (granted == PLENTY) return 1;
    if (!granted || bytes > MOST_BYTES) {
        refused++;
        return 0;
    }
    granted--;
    return 1;
}

static void *keep(void *memory, size_t bytes)
{
    if (!memory) return NULL;
    if (piece_count == MOST_PIECES) {
        fprintf(stderr, "too many pieces of memory\n");
        exit(2);
    }
    pieces[piece_count].memory = memory;
    pieces[piece_count++].bytes = bytes;
    all_bytes += bytes;
    return memory;
}

/* Returns the bytes of the piece. What is freed was allocated lately, mostly. */
static size_t forget(const void *memory)
{
    for (int at = piece_count - 1; at >= 0; at--) {
        if (pieces[at].memory != memory) continue;
        size_t bytes = pieces[at].bytes;
        all_bytes -= bytes;
        memmove(pieces + at, pieces + at + 1, (size_t)(--piece_count - at) * sizeof *pieces);
        return bytes;
    }
    fprintf(stderr, "freed, but not allocated\n");
    exit(1);
}

void *scarce_malloc(size_t bytes)
{
    return is_granted(bytes) ? keep(malloc(bytes), bytes) : NULL;
}

void *scarce_calloc(size_t count, size_t bytes)
{
    size_t whole = bytes && count > SIZE_MAX / bytes ? SIZE_MAX : count * bytes;
    return is_granted(whole) ? keep(calloc(count, bytes), whole) : NULL;
}

void *scarce_realloc(void *memory, size_t bytes)
{
    if (!is_granted(bytes)) return NULL;
    if (!memory) return keep(malloc(bytes), bytes);
    forget(memory);
    return keep(realloc(memory, bytes), bytes);
}

void scarce_free(void *memory)
{
    if (memory) forget(memory);
    free(memory);
}

#if defined(_WIN32)

void *scarce_aligned_malloc(size_t bytes, size_t alignment)
{
    return is_granted(bytes) ? keep(_aligned_malloc(bytes, alignment), bytes) : NULL;
}

void scarce_aligned_free(void *memory)
{
    if (memory) forget(memory);
    _aligned_free(memory);
}

#else

int scarce_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (!is_granted(bytes)) return ENOMEM;
    int status = posix_memalign(memory, alignment, bytes);
    if (!status) keep(*memory, bytes);
    return status;
}

int scarce_thread(
    pthread_t *thread, const pthread_attr_t *how, void *(*main)(void *), void *argument)
{
    return is_granted(0) ? pthread_create(thread, how, main, argument) : EAGAIN;
}

#endif
