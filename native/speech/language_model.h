/* Talker and code predictor of a packed model, and the tables of vectors that they are fed with. */
#ifndef S2S_LANGUAGE_MODEL_H
#define S2S_LANGUAGE_MODEL_H

#include "code_predictor.h"
#include "fault.h"
#include "packed_file.h"
#include "thread_pool.h"

/* The numbers of section "model", in this order. */
typedef struct {
    int32_t kind, takes_instruction, groups, codes, vocabulary, text_rows, max_positions;
    int32_t sample_rate, text_type, code_type, input_type;
    int32_t pad, bos, eos, think, nothink, think_begins, think_ends;
    int32_t text_pad, text_bos, text_eos;
} Numbers;

enum { BASE = 0, CUSTOM_VOICE = 1, VOICE_DESIGN = 2 }; /* Numbers.kind */

/* Packed matrices, one behind the other, each begun at a multiple of 64 bytes. */
typedef struct {
    void *memory;
    Matrix **each;
    int count;
} Matrices;

typedef struct {
    Shape shape;
    Matrices matrices;
    float *norms;
    Transformer *transformer;
} Stack;

/* Rows of numbers in the type of a GGUF tensor. data: NULL where they are read when they are asked
 * for. */
typedef struct {
    int type, rows, columns;
    size_t row_bytes;
    uint8_t *data;
    const Section *section;
} Table;

typedef struct {
    Numbers numbers;
    Stack talker, predictor;
    Matrices head, heads; /* of the talker: codes, and the end; of the predictor's groups, and
                           * behind them the projection, if there is one */
    float *projection_bias;
    Table text, codec, codes, inputs; /* codes: of all groups but the first, one behind the other;
                                       * inputs: as the predictor is fed them, where that differs */
    const void **vectors;
    Predictor frame;
    uint8_t *row; /* as a table stores it */
} LanguageModel;

/* Reads it. Returns 0 or a fault; what was read is to be freed then as well. */
int language_read(
    LanguageModel *model, const PackedFile *file, ThreadPool *pool, Fault *fault);
void language_free(LanguageModel *model);

/* The projection is in the way from talker to predictor. */
int is_projected(const LanguageModel *model);

/* Row `row` of a table as float [columns], added to what is in `to`, or instead of it. */
int table_row(
    const LanguageModel *model, const PackedFile *file, const Table *table, int row, int add,
    float *to, Fault *fault);

/* The sum of a frame's code vectors: float [hidden]. codes: [groups], each below Numbers.codes. */
int frame_vector(
    const LanguageModel *model, const PackedFile *file, const int32_t *codes, float *to,
    Fault *fault);

/* hidden of the talker, and a first code, as the predictor is fed them: float [2][width]. */
int predictor_input(
    const LanguageModel *model, const PackedFile *file, ThreadPool *pool, const float *hidden,
    int code, float *to, Fault *fault);

#endif
