/* A packed model on disk: a table of contents, then sections of numbers. Written by
 * s2s/tts/qwen3/native/packed_file.py.
 *
 * All little-endian. The header: "s2sqwen3", the format and the number of sections (32 bits each),
 * the size of the file and the checksum of the table (64 bits each), S2S_INTERFACE of the kernel
 * whose weights they are (32 bits), zeros up to 64 bytes. Of each section 64 bytes: its name,
 * zero-terminated, in 40; where it begins, its size, its checksum. A checksum is the sum of
 * (2 i + 1) times word i, modulo 2^64, of 64-bit words, the last one filled up with zeros.
 *
 * A file is not trusted: whatever stands in it, reading it ends, and touches no memory but its
 * own. */
#ifndef S2S_PACKED_FILE_H
#define S2S_PACKED_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "fault.h"

enum { PACKED_FORMAT = 1, SECTION_NAME = 40, MAX_SECTIONS = 4096 };

typedef struct {
    char name[SECTION_NAME];
    uint64_t offset, bytes, checksum;
} Section;

typedef struct {
    FILE *file;
    int count;
    Section *sections;
} PackedFile;

/* Opens it and reads the table. Returns 0, or what `fail` returned; the file is closed then. */
int file_open(PackedFile *file, const char *path, Fault *fault);
void file_close(PackedFile *file);

/* A section; NULL, and a fault, where there is none. */
const Section *file_find(const PackedFile *file, const char *name, Fault *fault);

/* All of a section, which has to be of this size, into `to`. */
int file_read(const PackedFile *file, const char *name, void *to, uint64_t bytes, Fault *fault);

/* All of a section in memory of its own, and behind it a byte of zero; NULL, and a fault, when it
 * cannot be had, is larger than `most`, or no multiple of `each`. count: of pieces of `each`
 * bytes. */
void *file_read_all(const PackedFile *file, const char *name, uint64_t most, size_t each,
    int *count, Fault *fault);

/* A part of a section, of which no checksum is taken. */
int file_read_part(
    const PackedFile *file, const Section *section, uint64_t from, void *to, size_t bytes,
    Fault *fault);

#endif
