/* Speakers and languages by their names. */
#ifndef S2S_VOICES_H
#define S2S_VOICES_H

#include "fault.h"
#include "packed_file.h"

/* text: the names, zero-terminated, one behind the other. ids: of each, a row of the codec
 * table. */
typedef struct {
    char *text;
    const char **each;
    int32_t *ids;
    int count;
} Names;

/* dialects: of each speaker the id of what is spoken where the language is Chinese or open,
 * or -1. */
typedef struct {
    Names speakers, languages;
    int32_t *dialects;
} Voices;

/* rows: of the codec table. Returns 0 or a fault. */
int voices_read(Voices *voices, const PackedFile *file, int rows, Fault *fault);
void voices_free(Voices *voices);

/* The index of a name in any case, or -1. */
int find_name(const Names *names, const char *name);

/* Two names are the same in any case. */
int same_name(const char *one, const char *other);

#endif
