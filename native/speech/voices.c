#include "voices.h"

#include <stdlib.h>
#include <string.h>

#include "s2s_qwen3.h"

enum { NAME_BYTES = 1 << 20, NAME = 48 };

static int damaged(Fault *fault, const char *what)
{
    return fail(fault, S2S_QWEN3_NO_FILE, "%s is damaged: pack the model again", what);
}

/* Finds the beginning of each name; -1 when there are not as many as ids. */
static int split(Names *names, int bytes)
{
    int found = 0;
    for (int at = 0; at < bytes && found < names->count; found++) {
        names->each[found] = names->text + at;
        at += (int)strlen(names->text + at) + 1; /* behind the text there is a zero */
        if (at > bytes) return -1;
    }
    return found == names->count ? 0 : -1;
}

static int read_names(
    Names *names, const PackedFile *file, const char *part, int rows, Fault *fault)
{
    char name[NAME];
    int bytes;
    snprintf(name, NAME, "%s.ids", part);
    names->ids = file_read_all(file, name, NAME_BYTES, sizeof(int32_t), &names->count, fault);
    if (!names->ids) return -1;
    for (int at = 0; at < names->count; at++)
        if (names->ids[at] < 0 || names->ids[at] >= rows) return damaged(fault, name);
    snprintf(name, NAME, "%s.names", part);
    names->text = file_read_all(file, name, NAME_BYTES, 1, &bytes, fault);
    if (!names->text) return -1;
    names->each = calloc((size_t)names->count + 1, sizeof *names->each);
    if (!names->each) return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for %s", name);
    return split(names, bytes) ? damaged(fault, name) : 0;
}

int voices_read(Voices *voices, const PackedFile *file, int rows, Fault *fault)
{
    int count;
    if (read_names(&voices->languages, file, "languages", rows, fault)
        || read_names(&voices->speakers, file, "speakers", rows, fault))
        return -1;
    voices->dialects = file_read_all(
        file, "speakers.dialects", NAME_BYTES, sizeof(int32_t), &count, fault);
    if (!voices->dialects) return -1;
    int good = count == voices->speakers.count;
    for (int at = 0; good && at < count; at++)
        good = voices->dialects[at] >= -1 && voices->dialects[at] < rows;
    return good ? 0 : damaged(fault, "speakers.dialects");
}

static void free_names(Names *names)
{
    free(names->text);
    free(names->each);
    free(names->ids);
}

void voices_free(Voices *voices)
{
    free_names(&voices->speakers);
    free_names(&voices->languages);
    free(voices->dialects);
}

static int lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter + 'a' - 'A' : letter;
}

int same_name(const char *one, const char *other)
{
    for (; *one && lower(*one) == lower(*other); one++) other++;
    return lower(*one) == lower(*other);
}

int find_name(const Names *names, const char *name)
{
    for (int at = 0; at < names->count; at++)
        if (same_name(names->each[at], name)) return at;
    return -1;
}
