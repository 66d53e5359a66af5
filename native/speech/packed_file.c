#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "packed_file.h"

#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "s2s_qwen3.h"

#if defined(_WIN32)
#include <windows.h>
#endif

/* PIECE: what was read is still in the cache when its checksum is taken. */
enum { HEADER_BYTES = 64, ENTRY_BYTES = 64, PIECE = 4 << 20 };

static const char magic[] = "s2sqwen3";

/* --- the system ------------------------------------------------------------------------------- */

static FILE *open_path(const char *path)
{
#if defined(_WIN32)
    wchar_t wide[1024];
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, 1024)) return NULL;
    return _wfopen(wide, L"rb");
#else
    return fopen(path, "rb");
#endif
}

static int seek(FILE *file, uint64_t offset)
{
    if (offset > INT64_MAX) return -1;
#if defined(_WIN32)
    return _fseeki64(file, (int64_t)offset, SEEK_SET);
#else
    return fseeko(file, (off_t)offset, SEEK_SET);
#endif
}

/* -1: of what is no file. */
static int64_t size_of(FILE *file)
{
#if defined(_WIN32)
    return _fseeki64(file, 0, SEEK_END) ? -1 : _ftelli64(file);
#else
    return fseeko(file, 0, SEEK_END) ? -1 : (int64_t)ftello(file);
#endif
}

/* --- numbers ---------------------------------------------------------------------------------- */

static uint64_t number_at(const uint8_t *from, int bytes)
{
    uint64_t number = 0;
    for (int at = bytes - 1; at >= 0; at--) number = number << 8 | from[at];
    return number;
}

/* Adds the words of a piece that begins with word `first`. */
static uint64_t add_words(uint64_t sum, uint64_t first, const uint8_t *from, size_t bytes)
{
    size_t words = bytes / 8, rest = bytes % 8;
    for (size_t at = 0; at < words; at++) {
        uint64_t word;
        memcpy(&word, from + 8 * at, 8);
        sum += word * (2 * (first + at) + 1);
    }
    if (rest) sum += number_at(from + 8 * words, (int)rest) * (2 * (first + words) + 1);
    return sum;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_summed(
    const PackedFile *file, const Section *section, uint8_t *to, uint64_t *sum)
{
    *sum = 0;
    if (seek(file->file, section->offset)) return -1;
    for (uint64_t done = 0; done < section->bytes;) {
        uint64_t left = section->bytes - done;
        size_t some = left < PIECE ? (size_t)left : PIECE;
        if (fread(to + done, 1, some, file->file) != some) return -1;
        *sum = add_words(*sum, done / 8, to + done, some);
        done += some;
    }
    return 0;
}

static int read_section(const PackedFile *file, const Section *section, void *to, Fault *fault)
{
    uint64_t sum;
    if (read_summed(file, section, to, &sum))
        return fail(fault, S2S_QWEN3_NO_FILE, "%s: the file cannot be read", section->name);
    if (sum != section->checksum)
        return fail(fault, S2S_QWEN3_NO_FILE,
            "%s: the file is damaged: pack the model again", section->name);
    return 0;
}

static int read_entry(
    Section *section, const uint8_t *entry, uint64_t file_bytes, Fault *fault)
{
    memcpy(section->name, entry, SECTION_NAME);
    section->offset = number_at(entry + SECTION_NAME, 8);
    section->bytes = number_at(entry + SECTION_NAME + 8, 8);
    section->checksum = number_at(entry + SECTION_NAME + 16, 8);
    if (section->name[SECTION_NAME - 1] || section->offset > file_bytes
        || section->bytes > file_bytes - section->offset)
        return fail(fault, S2S_QWEN3_NO_FILE,
            "the table of contents is damaged: pack the model again");
    return 0;
}

static int read_table(PackedFile *file, const uint8_t *header, uint64_t file_bytes, Fault *fault)
{
    int count = (int)number_at(header + 12, 4);
    size_t bytes = (size_t)count * ENTRY_BYTES;
    Section all = { "table of contents", HEADER_BYTES, bytes, number_at(header + 24, 8) };
    uint8_t *table = malloc(bytes);
    file->sections = calloc((size_t)count, sizeof *file->sections);
    if (!table || !file->sections) {
        free(table);
        return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a table of %d sections", count);
    }
    int status = read_section(file, &all, table, fault);
    for (int at = 0; !status && at < count; at++)
        status = read_entry(
            file->sections + at, table + (size_t)at * ENTRY_BYTES, file_bytes, fault);
    file->count = status ? 0 : count;
    free(table);
    return status;
}

static int read_contents(PackedFile *file, const char *path, Fault *fault)
{
    const uint16_t one = 1;
    uint8_t header[HEADER_BYTES];
    int64_t bytes = size_of(file->file);
    if (!*(const uint8_t *)&one)
        return fail(fault, S2S_QWEN3_NO_FILE, "packed models are read by little-endian machines");
    if (bytes < HEADER_BYTES || seek(file->file, 0)
        || fread(header, 1, sizeof header, file->file) != sizeof header
        || memcmp(header, magic, sizeof magic - 1))
        return fail(fault, S2S_QWEN3_NO_FILE,
            "%s is no packed model: make one with `s2s models convert MODEL --packed FILE`", path);
    uint64_t format = number_at(header + 8, 4), count = number_at(header + 12, 4);
    if (format != PACKED_FORMAT)
        return fail(fault, S2S_QWEN3_NO_FILE, "%s has format %u, this library reads %d: pack the "
            "model again", path, (unsigned)format, PACKED_FORMAT);
    if (number_at(header + 32, 4) != S2S_INTERFACE)
        return fail(fault, S2S_QWEN3_NO_FILE, "%s was packed by another version of s2s: pack the "
            "model again, or take the library of that version", path);
    if (number_at(header + 16, 8) != (uint64_t)bytes)
        return fail(fault, S2S_QWEN3_NO_FILE, "%s has %llu bytes of %llu: copy it again", path,
            (unsigned long long)bytes, (unsigned long long)number_at(header + 16, 8));
    if (!count || count > MAX_SECTIONS)
        return fail(fault, S2S_QWEN3_NO_FILE, "%s says it has %u sections", path, (unsigned)count);
    return read_table(file, header, (uint64_t)bytes, fault);
}

int file_open(PackedFile *file, const char *path, Fault *fault)
{
    *file = (PackedFile) { .file = open_path(path) };
    if (!file->file) return fail(fault, S2S_QWEN3_NO_FILE, "%s cannot be opened", path);
    int status = read_contents(file, path, fault);
    if (status) file_close(file);
    return status;
}

void file_close(PackedFile *file)
{
    if (file->file) fclose(file->file);
    free(file->sections);
    *file = (PackedFile) { 0 };
}

const Section *file_find(const PackedFile *file, const char *name, Fault *fault)
{
    for (int at = 0; at < file->count; at++)
        if (!strcmp(file->sections[at].name, name)) return file->sections + at;
    fail(fault, S2S_QWEN3_NO_FILE, "%s is missing: pack the model again", name);
    return NULL;
}

int file_read(const PackedFile *file, const char *name, void *to, uint64_t bytes, Fault *fault)
{
    const Section *section = file_find(file, name, fault);
    if (!section) return S2S_QWEN3_NO_FILE;
    if (section->bytes != bytes)
        return fail(fault, S2S_QWEN3_NO_FILE, "%s has %llu bytes where its numbers make it %llu",
            name, (unsigned long long)section->bytes, (unsigned long long)bytes);
    return read_section(file, section, to, fault);
}

void *file_read_all(const PackedFile *file, const char *name, uint64_t most, size_t each,
    int *count, Fault *fault)
{
    const Section *section = file_find(file, name, fault);
    if (!section) return NULL;
    if (section->bytes > most || section->bytes % each) {
        fail(fault, S2S_QWEN3_NO_FILE, "%s has %llu bytes", name,
            (unsigned long long)section->bytes);
        return NULL;
    }
    uint8_t *all = malloc((size_t)section->bytes + 1);
    if (!all) {
        fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for %s", name);
        return NULL;
    }
    if (read_section(file, section, all, fault)) {
        free(all);
        return NULL;
    }
    all[section->bytes] = 0;
    *count = (int)(section->bytes / each);
    return all;
}

int file_read_part(
    const PackedFile *file, const Section *section, uint64_t from, void *to, size_t bytes,
    Fault *fault)
{
    if (from > section->bytes || bytes > section->bytes - from
        || seek(file->file, section->offset + from)
        || fread(to, 1, bytes, file->file) != bytes)
        return fail(fault, S2S_QWEN3_NO_FILE, "%s: the file cannot be read", section->name);
    return 0;
}
