#include "golden_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 56, HEADER = NAME + 8, MOST = 100000 };

static uint8_t *file;
static size_t file_bytes;
static char prefix[2 * NAME];
static void *owned[MOST];
static int owned_count, failed, case_at;

static void end(const char *why, const char *name)
{
    fprintf(stderr, "%s: %s%s\n", why, prefix, name);
    exit(2);
}

void golden_read(const char *path)
{
    FILE *opened = fopen(path, "rb");
    if (!opened || fseek(opened, 0, SEEK_END)) end("cannot be read", path);
    long size = ftell(opened);
    rewind(opened);
    file_bytes = size > 0 ? (size_t)size : 0;
    file = malloc(file_bytes + 1);
    if (!file || fread(file, 1, file_bytes, opened) != file_bytes) end("cannot be read", path);
    fclose(opened);
}

void *case_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory || owned_count == MOST) end("no memory", "");
    owned[owned_count++] = memory;
    return memory;
}

/* The array of this name and its size, or NULL. */
static const uint8_t *find(const char *name, size_t *bytes)
{
    char whole[3 * NAME];
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    for (size_t at = 0; at + HEADER <= file_bytes;) {
        uint64_t size;
        memcpy(&size, file + at + NAME, sizeof size);
        if (!strncmp((const char *)file + at, whole, NAME)) {
            *bytes = (size_t)size;
            return file + at + HEADER;
        }
        at += HEADER + (size_t)size;
    }
    return NULL;
}

static void *copy_of(const char *name, size_t wanted, int needed)
{
    size_t bytes;
    const uint8_t *found = find(name, &bytes);
    if (!found && !needed) return NULL;
    if (!found) end("missing", name);
    if (wanted && bytes != wanted) end("of another size", name);
    void *copy = case_memory(bytes);
    memcpy(copy, found, bytes);
    return copy;
}

void *golden_optional(const char *name)
{
    return copy_of(name, 0, 0);
}

const float *golden_floats(const char *name, size_t count)
{
    return copy_of(name, count * sizeof(float), 1);
}

const int32_t *golden_ints(const char *name, size_t count)
{
    return copy_of(name, count * sizeof(int32_t), 1);
}

const uint8_t *golden_bytes(const char *name)
{
    return copy_of(name, 0, 1);
}

int next_case(const char *kind)
{
    size_t bytes;
    while (owned_count) free(owned[--owned_count]);
    if (strncmp(prefix, kind, strlen(kind))) case_at = 0;
    snprintf(prefix, sizeof prefix, "%s/%d/", kind, case_at++);
    return find("shape", &bytes) != NULL;
}

static uint64_t digest(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t in = 0; in < bytes; in++) hash = (hash ^ at[in]) * 0x100000001b3u;
    return hash;
}

static void report(const char *what, uint64_t bits, double error, int good)
{
    printf("%s%s %016llx %.3g%s\n", prefix, what, (unsigned long long)bits, error,
        good ? "" : " FAILED");
    fflush(stdout);
    failed += !good;
}

static uint64_t digest_of_floats(const float *values, size_t count)
{
    float *known = case_memory(count * sizeof *known);
    for (size_t at = 0; at < count; at++) known[at] = values[at] == values[at] ? values[at] : 1e30f;
    return digest(known, count * sizeof *known);
}

void compare(const char *what, const float *results, size_t count)
{
    size_t bytes;
    if (!find("wanted", &bytes)) {
        report(what, digest_of_floats(results, count), 0, 1);
        return;
    }
    const float *wanted = golden_floats("wanted", count), *tolerance = golden_floats("tolerance", 1);
    double most = 0, error = 0;
    for (size_t at = 0; at < count; at++) {
        double away = fabs((double)results[at] - (double)wanted[at]);
        most = fmax(most, fabs((double)wanted[at]));
        error = away <= error ? error : away; /* what is no number is an error */
    }
    error = most > 0 ? error / most : error;
    report(what, digest_of_floats(results, count), error, error <= (double)*tolerance);
}

void compare_ints(const char *what, const int32_t *results, size_t count)
{
    size_t bytes = count * sizeof *results;
    report(what, digest(results, bytes), 0, !memcmp(golden_ints("wanted", count), results, bytes));
}

void show_ints(const char *what, const int32_t *results, size_t count)
{
    report(what, digest(results, count * sizeof *results), 0, 1);
}

void must_equal(const char *what, const void *one, const void *other, size_t bytes)
{
    if (!memcmp(one, other, bytes)) return;
    printf("%s%s: other bits FAILED\n", prefix, what);
    failed++;
}

void must_be(const char *what, int so)
{
    if (so) return;
    printf("%s%s: not so FAILED\n", prefix, what);
    failed++;
}

void show_made(const char *what, int made, size_t bytes)
{
    printf("%s%s %s %llu\n", prefix, what, made ? "made" : "refused", (unsigned long long)bytes);
}

int failures(void)
{
    return failed;
}
