/* From a request to the vectors that the talker is fed with, as s2s/tts/qwen3/text/prompt.py has
 * them: all text before the sound, or a token a frame alongside it. */
#ifndef S2S_PROMPT_H
#define S2S_PROMPT_H

#include "fault.h"
#include "language_model.h"
#include "s2s_qwen3.h"
#include "tokenizer.h"
#include "voices.h"

/* What a request is read with. */
typedef struct {
    const PackedFile *file;
    const LanguageModel *model;
    const Tokenizer *tokenizer;
    const Voices *voices;
} Reader;

/* vectors: float [positions][hidden]. ids: of the text; streaming: those after the first one
 * accompany the frames. */
typedef struct {
    float *vectors;
    size_t room;
    int positions, streaming, text_tokens;
    Tokens tokens; /* the text's begin at `text_from` */
    size_t text_from;
} Prompt;

/* Returns 0 or a fault; it is to be freed then as well. */
int prompt_build(
    Prompt *prompt, const Reader *reader, const s2s_qwen3_request *request, Fault *fault);
void prompt_free(Prompt *prompt);

/* What is added to the codes of a frame: float [hidden] is added to `to`. */
int add_text_of_frame(
    const Prompt *prompt, const Reader *reader, int frame, float *to, Fault *fault);

/* Some of the text had yet to be fed when this frame's codes were made. */
int text_left(const Prompt *prompt, int frame);

/* Ids of a text as the model sees it: within its template, which merges at the seams. Appended to
 * `tokens`, of which the first `skipped` are the template's. */
int tokenize_text(const Tokenizer *tokenizer, const char *text, Tokens *tokens, size_t *from,
    Fault *fault);

#endif
