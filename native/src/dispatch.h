/* Which levels this library has, and which of them this processor can execute. Compiled once, for
 * any processor of the architecture. */
#ifndef S2S_DISPATCH_H
#define S2S_DISPATCH_H

#include <stddef.h>

#include "level.h"

/* Counts changes of any function or structure that a caller knows. */
enum { S2S_INTERFACE = 3 };

S2S_API int s2s_kernel_interface(void);

/* Names of the levels in this library, with spaces between them, the best one last. */
S2S_API const char *s2s_kernel_levels(void);

/* The best level that this processor executes, of those in this library; NULL: none. */
S2S_API const char *s2s_kernel_best_level(void);

/* Whether this processor executes a level, 0 or 1; -1: this library does not have it. */
S2S_API int s2s_kernel_executes(const char *level);

/* The size of a structure that callers fill, by its name; 0 for a name unknown. */
S2S_API size_t s2s_kernel_size_of(const char *structure);

#endif
