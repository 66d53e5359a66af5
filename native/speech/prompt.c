#include "prompt.h"

#include <stdlib.h>
#include <string.h>

static const char role[] = "<|im_start|>assistant\n";
static const char tail[] = "<|im_end|>\n<|im_start|>assistant\n";
static const char instruction_role[] = "<|im_start|>user\n", instruction_tail[] = "<|im_end|>\n";

enum { ROLE_TOKENS = 3, TAIL_TOKENS = 5, NONE = -1 };

/* --- checks ----------------------------------------------------------------------------------- */

static int check_voice(const Reader *reader, const s2s_qwen3_request *request, Fault *fault)
{
    int kind = reader->model->numbers.kind, width = reader->model->talker.shape.hidden;
    const char *speaker = request->speaker;
    if (kind == BASE && !request->voice)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "a Base model speaks with a cloned voice: give "
            "it one");
    if (kind != BASE && request->voice)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "only a Base model speaks with a cloned voice");
    if (request->voice && request->voice_size != (size_t)width)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "the voice has %zu values, this model needs %d",
            request->voice_size, width);
    if (kind != CUSTOM_VOICE && speaker)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "this model has no trained speakers, so no "
            "\"%.40s\"", speaker);
    if (kind == CUSTOM_VOICE && (!speaker || find_name(&reader->voices->speakers, speaker) < 0))
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "unknown speaker \"%.40s\"; the first known is "
            "%.40s", speaker ? speaker : "",
            reader->voices->speakers.count ? reader->voices->speakers.each[0] : "none");
    return 0;
}

/* The language's codec id, or NONE where it is left open. A speaker of a dialect speaks it when the
 * language is Chinese or open. */
static int find_language(
    const Reader *reader, const s2s_qwen3_request *request, int *id, Fault *fault)
{
    const Voices *voices = reader->voices;
    const char *name = request->language ? request->language : "auto";
    int open = same_name(name, "auto");
    if (request->speaker && (open || same_name(name, "chinese"))) {
        *id = voices->dialects[find_name(&voices->speakers, request->speaker)];
        if (*id != NONE) return 0;
    }
    *id = NONE;
    if (open) return 0;
    int found = find_name(&voices->languages, name);
    if (found < 0)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "unknown language \"%.40s\"", name);
    *id = voices->languages.ids[found];
    return 0;
}

/* --- the text --------------------------------------------------------------------------------- */

/* Three pieces as one text. */
static int tokenize_joined(const Tokenizer *tokenizer, const char *before, const char *text,
    const char *after, Tokens *tokens, Fault *fault)
{
    size_t bytes = strlen(text), first = strlen(before), last = strlen(after);
    char *whole = bytes < SIZE_MAX / 2 ? malloc(first + bytes + last) : NULL;
    if (!whole) return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a text");
    memcpy(whole, before, first);
    memcpy(whole + first, text, bytes);
    memcpy(whole + first + bytes, after, last);
    int status = tokenize(tokenizer, whole, first + bytes + last, tokens, fault);
    free(whole);
    return status;
}

int tokenize_text(const Tokenizer *tokenizer, const char *text, Tokens *tokens, size_t *from,
    Fault *fault)
{
    size_t before = tokens->count;
    int status = tokenize_joined(tokenizer, role, text, tail, tokens, fault);
    if (status) return status;
    if (tokens->count < before + ROLE_TOKENS + TAIL_TOKENS)
        return fail(fault, S2S_QWEN3_NO_FILE, "the tokenizer does not know the template");
    *from = before + ROLE_TOKENS;
    tokens->count -= TAIL_TOKENS;
    return 0;
}

/* Ids that a caller has. */
static int copy_tokens(
    const Reader *reader, const s2s_qwen3_request *request, Prompt *prompt, Fault *fault)
{
    size_t count = request->token_count, positions = (size_t)reader->model->numbers.max_positions;
    if (count > positions)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "%zu tokens are more than fit", count);
    prompt->tokens.ids = malloc((count + 1) * sizeof *prompt->tokens.ids);
    if (!prompt->tokens.ids) return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for tokens");
    prompt->tokens.count = prompt->tokens.room = count;
    for (size_t at = 0; at < count; at++) {
        int32_t id = request->tokens[at];
        if (id < 0 || id >= reader->model->numbers.text_rows)
            return fail(fault, S2S_QWEN3_NO_ARGUMENT, "token %d is none of the model's", (int)id);
        prompt->tokens.ids[at] = id;
    }
    return 0;
}

static int read_text(
    const Reader *reader, const s2s_qwen3_request *request, Prompt *prompt, Fault *fault)
{
    int status;
    if (request->tokens)
        status = copy_tokens(reader, request, prompt, fault);
    else if (request->text)
        status = tokenize_text(
            reader->tokenizer, request->text, &prompt->tokens, &prompt->text_from, fault);
    else
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "there is neither a text nor tokens of one");
    if (status) return status;
    size_t count = prompt->tokens.count - prompt->text_from;
    if (!count)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "there is nothing to say: the text is empty");
    if (count > (size_t)reader->model->numbers.max_positions)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "a text of %zu tokens is too long", count);
    prompt->text_tokens = (int)count;
    return 0;
}

/* --- positions -------------------------------------------------------------------------------- */

/* One more position: a row of the text table, a row of the codec table or a voice, each unless it
 * is NONE or NULL. */
static int add_position(
    Prompt *prompt, const Reader *reader, int text, int code, const float *voice, Fault *fault)
{
    const LanguageModel *model = reader->model;
    int width = model->talker.shape.hidden, status = 0;
    size_t used = (size_t)prompt->positions * (size_t)width;
    if (prompt->positions >= model->numbers.max_positions)
        return fail(fault, S2S_QWEN3_NO_ARGUMENT, "the text is too long to be spoken at once");
    if (used + (size_t)width > prompt->room) {
        size_t room = 2 * (used + (size_t)width);
        float *grown = realloc(prompt->vectors, room * sizeof *grown);
        if (!grown) return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for a prompt");
        prompt->vectors = grown;
        prompt->room = room;
    }
    float *to = prompt->vectors + used;
    prompt->positions++;
    memset(to, 0, (size_t)width * sizeof *to);
    if (text != NONE) status = table_row(model, reader->file, &model->text, text, 0, to, fault);
    if (!status && code != NONE)
        status = table_row(model, reader->file, &model->codec, code, 1, to, fault);
    for (int at = 0; voice && at < width; at++) to[at] += voice[at];
    return status;
}

/* The instruction and the role, on the text track alone. */
static int add_said(
    Prompt *prompt, const Reader *reader, const s2s_qwen3_request *request, Fault *fault)
{
    Tokens said = { 0 };
    int status = 0;
    if (request->instruction && *request->instruction && reader->model->numbers.takes_instruction)
        status = tokenize_joined(reader->tokenizer, instruction_role, request->instruction,
            instruction_tail, &said, fault);
    if (!status) status = tokenize(reader->tokenizer, role, sizeof role - 1, &said, fault);
    for (size_t at = 0; !status && at < said.count; at++)
        status = add_position(prompt, reader, said.ids[at], NONE, NULL, fault);
    free(said.ids);
    return status;
}

/* Language, speaker and the codec's pad, under text pads and, last, the beginning of the text. */
static int add_codec_prefix(
    Prompt *prompt, const Reader *reader, const s2s_qwen3_request *request, Fault *fault)
{
    const Numbers *n = &reader->model->numbers;
    int language, count = 0, status = find_language(reader, request, &language, fault);
    int track[5];
    if (status) return status;
    track[count++] = language == NONE ? n->nothink : n->think;
    track[count++] = n->think_begins;
    if (language != NONE) track[count++] = language;
    track[count++] = n->think_ends;
    if (request->speaker)
        track[count++] = reader->voices->speakers
                             .ids[find_name(&reader->voices->speakers, request->speaker)];
    for (int at = 0; !status && at < count; at++)
        status = add_position(prompt, reader, n->text_pad, track[at], NULL, fault);
    if (!status && request->voice)
        status = add_position(prompt, reader, n->text_pad, NONE, request->voice, fault);
    return status ? status : add_position(prompt, reader, n->text_bos, n->pad, NULL, fault);
}

static int add_body(Prompt *prompt, const Reader *reader, Fault *fault)
{
    const Numbers *n = &reader->model->numbers;
    const int32_t *ids = prompt->tokens.ids + prompt->text_from;
    int status = 0;
    if (prompt->streaming) return add_position(prompt, reader, ids[0], n->bos, NULL, fault);
    for (int at = 0; !status && at < prompt->text_tokens; at++)
        status = add_position(prompt, reader, ids[at], n->pad, NULL, fault);
    if (!status) status = add_position(prompt, reader, n->text_eos, n->pad, NULL, fault);
    return status ? status : add_position(prompt, reader, n->text_pad, n->bos, NULL, fault);
}

int prompt_build(
    Prompt *prompt, const Reader *reader, const s2s_qwen3_request *request, Fault *fault)
{
    int base = reader->model->numbers.kind == BASE;
    prompt->streaming = request->streaming < 0 ? base : request->streaming != 0;
    int status = check_voice(reader, request, fault);
    if (!status) status = read_text(reader, request, prompt, fault);
    if (!status) status = add_said(prompt, reader, request, fault);
    if (!status) status = add_codec_prefix(prompt, reader, request, fault);
    return status ? status : add_body(prompt, reader, fault);
}

void prompt_free(Prompt *prompt)
{
    free(prompt->vectors);
    free(prompt->tokens.ids);
}

/* --- the text alongside the sound ------------------------------------------------------------- */

int add_text_of_frame(
    const Prompt *prompt, const Reader *reader, int frame, float *to, Fault *fault)
{
    const Numbers *n = &reader->model->numbers;
    int id = n->text_pad;
    if (prompt->streaming && frame + 1 < prompt->text_tokens)
        id = prompt->tokens.ids[prompt->text_from + (size_t)frame + 1];
    else if (prompt->streaming && frame + 1 == prompt->text_tokens)
        id = n->text_eos;
    return table_row(reader->model, reader->file, &reader->model->text, id, 1, to, fault);
}

int text_left(const Prompt *prompt, int frame)
{
    return prompt->streaming && frame < prompt->text_tokens;
}
