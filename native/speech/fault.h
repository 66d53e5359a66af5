/* What went wrong, in words. */
#ifndef S2S_FAULT_H
#define S2S_FAULT_H

#include "names.h"

typedef struct { char text[320]; } Fault;

#if defined(__GNUC__)
#define S2S_FORMAT(at) __attribute__((format(printf, at, at + 1)))
#else
#define S2S_FORMAT(at)
#endif

/* Writes the words; returns `status`, one of the header's below 0. */
int fail(Fault *fault, int status, const char *format, ...) S2S_FORMAT(3);

#endif
