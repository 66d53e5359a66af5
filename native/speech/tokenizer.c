#include "tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "s2s_qwen3.h"

/* MOST_TEXT: bytes of a text; what is longer is none that can be spoken at once. */
enum { MERGE_BYTES = 1 << 28, ADDED_BYTES = 1 << 20, MOST_TEXT = 1 << 20, LONG_S = 0x17f };

/* --- reading ---------------------------------------------------------------------------------- */

static int read_added(Tokenizer *tokenizer, const PackedFile *file, Fault *fault)
{
    int ends, bytes, before = 0;
    tokenizer->added_ids = file_read_all(file, "tokens.added.ids", ADDED_BYTES, sizeof(int32_t),
        &tokenizer->added_count, fault);
    if (!tokenizer->added_ids) return -1;
    tokenizer->added_ends = file_read_all(
        file, "tokens.added.ends", ADDED_BYTES, sizeof(int32_t), &ends, fault);
    if (!tokenizer->added_ends) return -1;
    tokenizer->added_text
        = file_read_all(file, "tokens.added.text", ADDED_BYTES, 1, &bytes, fault);
    if (!tokenizer->added_text) return -1;
    int good = ends == tokenizer->added_count;
    for (int at = 0; good && at < ends; before = tokenizer->added_ends[at++])
        good = tokenizer->added_ends[at] > before && tokenizer->added_ends[at] <= bytes;
    if (good) return 0;
    return fail(fault, S2S_QWEN3_NO_FILE, "tokens.added is damaged: pack the model again");
}

int tokenizer_read(Tokenizer *tokenizer, const PackedFile *file, int rows, Fault *fault)
{
    int bytes;
    tokenizer->rows = rows;
    tokenizer->bytes
        = file_read_all(file, "tokens.bytes", ADDED_BYTES, sizeof(int32_t), &bytes, fault);
    if (!tokenizer->bytes) return -1;
    if (bytes != 256)
        return fail(fault, S2S_QWEN3_NO_FILE, "tokens.bytes has %d ids: pack again", bytes);
    tokenizer->merges = file_read_all(file, "tokens.merges", MERGE_BYTES, 4 * sizeof(int32_t),
        &tokenizer->merge_count, fault);
    if (!tokenizer->merges || read_added(tokenizer, file, fault)) return -1;
    return unicode_read(&tokenizer->unicode, file, fault);
}

void tokenizer_free(Tokenizer *tokenizer)
{
    free(tokenizer->bytes);
    free(tokenizer->merges);
    free(tokenizer->added_ids);
    free(tokenizer->added_ends);
    free(tokenizer->added_text);
    unicode_free(&tokenizer->unicode);
}

/* --- words ------------------------------------------------------------------------------------ */

static size_t run_of(const char *classes, size_t at, size_t end, const char *of)
{
    while (at < end && strchr(of, classes[at])) at++;
    return at;
}

/* Behind 's, 't, 're, 've, 'm, 'll, 'd in any case; `at` where there is none. */
static size_t contraction(const Character *text, size_t at, size_t end)
{
    static const char *const endings[] = { "s", "t", "re", "ve", "m", "ll", "d" };
    if (text[at] != '\'') return at;
    for (size_t each = 0; each < sizeof endings / sizeof *endings; each++) {
        size_t in = 0, length = strlen(endings[each]);
        for (; in < length && at + 1 + in < end; in++) {
            Character found = text[at + 1 + in];
            if (found == LONG_S) found = 's';
            if (found >= 'A' && found <= 'Z') found += 'a' - 'A';
            if (found != endings[each][in]) break;
        }
        if (in == length) return at + 1 + length;
    }
    return at;
}

/* Where the word that begins at `at` ends, of the first alternative that fits:
 * [SWO]?L+ | N | S?O+R* | [SWR]*R+ | [SWR]+(?![LNO]) | [SWR]+ */
static size_t word_end(const char *classes, size_t at, size_t end)
{
    size_t next = at + 1;
    char first = classes[at];
    if (first == 'L') return run_of(classes, at, end, "L");
    if (strchr("SWO", first) && next < end && classes[next] == 'L')
        return run_of(classes, next, end, "L");
    if (first == 'N') return next;
    if (first == 'O' || (first == 'S' && next < end && classes[next] == 'O'))
        return run_of(classes, run_of(classes, next, end, "O"), end, "R");
    size_t spaces = run_of(classes, at, end, "SWR");
    for (size_t last = spaces; last > at; last--)
        if (classes[last - 1] == 'R') return last;
    return spaces < end && spaces > next ? spaces - 1 : spaces;
}

/* --- merges ----------------------------------------------------------------------------------- */

/* The merge of two ids, or NULL. */
static const int32_t *merge_of(const Tokenizer *tokenizer, int32_t left, int32_t right)
{
    int low = 0, high = tokenizer->merge_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const int32_t *row = tokenizer->merges + (size_t)middle * 4;
        if (row[0] == left && row[1] == right) return row;
        if (row[0] < left || (row[0] == left && row[1] < right))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Joins every occurrence of a merge's pair, from the left; returns how many ids are left. */
static size_t join(int32_t *ids, size_t count, const int32_t *merge)
{
    size_t kept = 0;
    for (size_t at = 0; at < count; at++) {
        if (at + 1 < count && ids[at] == merge[0] && ids[at + 1] == merge[1]) {
            ids[kept++] = merge[3];
            at++;
        } else {
            ids[kept++] = ids[at];
        }
    }
    return kept;
}

/* Merges the ids of a word's bytes by rank, in place; returns how many are left. */
static size_t merge_word(const Tokenizer *tokenizer, int32_t *ids, size_t count)
{
    while (count > 1) {
        const int32_t *best = NULL;
        for (size_t at = 0; at + 1 < count; at++) {
            const int32_t *found = merge_of(tokenizer, ids[at], ids[at + 1]);
            if (found && (!best || found[2] < best[2])) best = found;
        }
        if (!best) break;
        count = join(ids, count, best);
    }
    return count;
}

/* --- text ------------------------------------------------------------------------------------- */

static int make_room(Tokens *tokens, size_t more, Fault *fault)
{
    size_t wanted = tokens->count + more;
    if (wanted <= tokens->room) return 0;
    wanted += wanted / 2;
    int32_t *grown = realloc(tokens->ids, wanted * sizeof *grown);
    if (!grown) return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for %zu tokens", wanted);
    tokens->ids = grown;
    tokens->room = wanted;
    return 0;
}

static int add_word(
    const Tokenizer *tokenizer, const Character *text, size_t count, Tokens *tokens, Fault *fault)
{
    int status = make_room(tokens, 4 * count, fault);
    if (status) return status;
    int32_t *ids = tokens->ids + tokens->count;
    size_t bytes = 0;
    for (size_t at = 0; at < count; at++) {
        uint8_t encoded[4];
        int some = utf8_encode(text[at], encoded);
        for (int in = 0; in < some; in++) ids[bytes++] = tokenizer->bytes[encoded[in]];
    }
    tokens->count += merge_word(tokenizer, ids, bytes);
    return 0;
}

static int add_words(
    const Tokenizer *tokenizer, const Character *text, size_t count, Tokens *tokens, Fault *fault)
{
    char *classes = malloc(count + 1);
    if (!classes) return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a text");
    for (size_t at = 0; at < count; at++) classes[at] = class_of(&tokenizer->unicode, text[at]);
    int status = 0;
    for (size_t at = 0, end; !status && at < count; at = end) {
        end = contraction(text, at, count);
        if (end == at) end = word_end(classes, at, count);
        status = add_word(tokenizer, text + at, end - at, tokens, fault);
    }
    free(classes);
    return status;
}

/* Text without added tokens. */
static int add_text(
    const Tokenizer *tokenizer, const char *text, size_t bytes, Tokens *tokens, Fault *fault)
{
    if (!bytes) return 0;
    Character *decoded = malloc((bytes + normal_room(bytes)) * sizeof *decoded);
    if (!decoded) return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a text");
    Character *normal = decoded + bytes;
    ptrdiff_t count = utf8_decode(text, bytes, decoded);
    int status;
    if (count < 0)
        status = fail(fault, S2S_QWEN3_NO_ARGUMENT, "the text is no UTF-8");
    else
        status = add_words(tokenizer, normal,
            normalise(&tokenizer->unicode, decoded, (size_t)count, normal), tokens, fault);
    free(decoded);
    return status;
}

/* The added token that stands at the beginning of a text, or -1. */
static int added_at(const Tokenizer *tokenizer, const char *text, size_t bytes, size_t *length)
{
    for (int at = 0, begin = 0; at < tokenizer->added_count; begin = tokenizer->added_ends[at++]) {
        *length = (size_t)(tokenizer->added_ends[at] - begin);
        if (*length <= bytes && !memcmp(text, tokenizer->added_text + begin, *length)) return at;
    }
    return -1;
}

int tokenize(
    const Tokenizer *tokenizer, const char *text, size_t bytes, Tokens *tokens, Fault *fault)
{
    size_t begin = 0, at = 0, length = 0, first = tokens->count;
    int status = 0;
    if (bytes > MOST_TEXT)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "a text of %zu bytes: at most %d are spoken at "
            "once", bytes, MOST_TEXT);
    while (!status && at < bytes) {
        int found = added_at(tokenizer, text + at, bytes - at, &length);
        if (found < 0) {
            at++;
            continue;
        }
        status = add_text(tokenizer, text + begin, at - begin, tokens, fault);
        if (!status) status = make_room(tokens, 1, fault);
        if (!status) tokens->ids[tokens->count++] = tokenizer->added_ids[found];
        begin = at += length;
    }
    if (!status) status = add_text(tokenizer, text + begin, bytes - begin, tokens, fault);
    for (size_t each = first; !status && each < tokens->count; each++)
        if (tokens->ids[each] < 0 || tokens->ids[each] >= tokenizer->rows)
            status = fail(fault, S2S_QWEN3_NO_FILE, "token %d lies outside the text table: pack "
                "the model again", (int)tokens->ids[each]);
    return status;
}
