/* Text to token ids: the byte-level BPE of Qwen2, as s2s/tts/qwen3/text/tokenizer.py does it. Its
 * vocabulary and merges come with the packed model. */
#ifndef S2S_TOKENIZER_H
#define S2S_TOKENIZER_H

#include "fault.h"
#include "packed_file.h"
#include "unicode.h"

/* bytes [256]: the id of each. merges [n][4]: left, right, rank, the id of both together, sorted.
 * added: tokens that are never split, longest first; their UTF-8 one behind the other, and where
 * each ends. */
typedef struct {
    Unicode unicode;
    int32_t *bytes, *merges, *added_ids, *added_ends;
    uint8_t *added_text;
    int merge_count, added_count, rows;
} Tokenizer;

/* rows: of the text table; ids are below. */
int tokenizer_read(Tokenizer *tokenizer, const PackedFile *file, int rows, Fault *fault);
void tokenizer_free(Tokenizer *tokenizer);

typedef struct {
    int32_t *ids;
    size_t count, room;
} Tokens;

/* Appends the ids of UTF-8 to `tokens`, whose memory belongs to the caller. Returns 0 or a
 * fault. */
int tokenize(
    const Tokenizer *tokenizer, const char *text, size_t bytes, Tokens *tokens, Fault *fault);

#endif
