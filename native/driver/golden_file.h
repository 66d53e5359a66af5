/* A file of named arrays, and what a run made of them: for the driver alone. */
#ifndef S2S_GOLDEN_FILE_H
#define S2S_GOLDEN_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads a file: of each array the name, zero-terminated, in 56 bytes, then its bytes as a 64-bit
 * number and the bytes, all little-endian. Ends the program when it cannot be read. */
void golden_read(const char *path);

/* Memory of malloc, of exactly so many bytes, so that AddressSanitizer sees a step beyond it. Ends
 * the program when there is none. It belongs to the case, as the arrays below. */
void *case_memory(size_t bytes);

/* A copy of the array `CASE/name`, or NULL where there is none; with a wrong size the program ends,
 * as it does for a missing one that is needed. */
void *golden_optional(const char *name);
const float *golden_floats(const char *name, size_t count);
const int32_t *golden_ints(const char *name, size_t count);
const uint8_t *golden_bytes(const char *name);

/* The next case of a kind, KIND/0 and on: 1, or 0 when there is none. Frees what the last case had. */
int next_case(const char *kind);

/* Holds results against `CASE/wanted`, and prints one line: the case, what was run, a digest of the
 * bits, the largest error relative to the largest value wanted. A larger one than `CASE/tolerance` is
 * counted as a failure. Where nothing is wanted there is only the digest, to which what is no number
 * is one value. */
void compare(const char *what, const float *results, size_t count);
/* Numbers, which must be those wanted. */
void compare_ints(const char *what, const int32_t *results, size_t count);
/* Numbers of which nothing is wanted: the digest. */
void show_ints(const char *what, const int32_t *results, size_t count);
/* Two results that must be equal to the bit. */
void must_equal(const char *what, const void *one, const void *other, size_t bytes);

/* Something that must be so: prints nothing unless it is not. */
void must_be(const char *what, int so);
/* Prints whether something was made, and of how many bytes. */
void show_made(const char *what, int made, size_t bytes);

/* How many failures there were, in all. */
int failures(void);

#endif
