/* Sizes of memory from the numbers of a checkpoint, which may be anything.
 *
 * What is negative, or too much to be counted, is NO_SIZE, and whatever it is multiplied with or
 * added to is too: no such memory is to be had, so an allocation fails and nothing is ever made that
 * is smaller than its numbers say. */
#ifndef S2S_SIZES_H
#define S2S_SIZES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define NO_SIZE SIZE_MAX

/* The most numbers in one buffer of activations, so that an `int` counts whatever is in one: its
 * rows, its columns, the work items it is cut into. */
enum { MOST_NUMBERS = 1 << 30 };

static inline size_t size_of_count(int count)
{
    return count < 0 ? NO_SIZE : (size_t)count;
}

static inline size_t times(size_t a, size_t b)
{
    if (a == NO_SIZE || b == NO_SIZE || (a && b > NO_SIZE / a)) return NO_SIZE;
    return a * b;
}

static inline size_t plus(size_t a, size_t b)
{
    return b > NO_SIZE - a ? NO_SIZE : a + b;
}

/* Of a buffer of activations [rows][columns]. */
static inline size_t buffer_of(size_t rows, size_t columns)
{
    size_t numbers = times(rows, columns);
    return numbers > MOST_NUMBERS ? NO_SIZE : numbers;
}

static inline size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Memory of so many zeros, each of `bytes` bytes; NULL: no memory. */
static inline void *zeros_of(size_t count, size_t bytes)
{
    return count == NO_SIZE ? NULL : calloc(count ? count : 1, bytes);
}

/* Whether a number is a positive multiple of another. */
static inline int divides(int unit, int number)
{
    return unit > 0 && number > 0 && number % unit == 0;
}

#endif
