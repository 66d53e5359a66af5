#include "language_model.h"

#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "s2s_qwen3.h"

/* The most that is read: docs/decisions/qwen3-model-file-bounds.md. */
enum {
    MOST_LAYERS = 256, MOST_HEADS = 256, MOST_HEAD_DIM = 1024, MOST_WIDTH = 1 << 15,
    MOST_INNER = 1 << 17, MOST_VOCABULARY = 1 << 21, MOST_CODES = 1 << 15, MOST_GROUPS = 128,
    MOST_POSITIONS = 1 << 20, SHAPE_NUMBERS = 6, LAYER_MATRICES = 7, COLUMN_STEP = 32,
    HEAD_STEP = 64, ALIGNMENT = 64, Q8_BLOCK = 32, Q8_BYTES = 34, NAME = 48
};

typedef struct { int rows, columns; } Size;

static int damaged(Fault *fault, const char *what)
{
    return fail(fault, S2S_QWEN3_NO_FILE, "%s: no such model can be computed: pack it again", what);
}

static int no_memory(Fault *fault, const char *what)
{
    return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for %s", what);
}

static int within(int32_t value, int32_t least, int32_t most)
{
    return value >= least && value <= most;
}

static const char *named(char *whole, const char *part, const char *name)
{
    snprintf(whole, NAME, "%s.%s", part, name);
    return whole;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int read_numbers(Numbers *numbers, const PackedFile *file, Fault *fault)
{
    Numbers *n = numbers;
    int status = file_read(file, "model", n, sizeof *n, fault);
    if (status) return status;
    const int32_t codec[] = { n->pad, n->bos, n->think, n->nothink, n->think_begins,
        n->think_ends }, text[] = { n->text_pad, n->text_bos, n->text_eos };
    int good = within(n->kind, BASE, VOICE_DESIGN) && within(n->groups, 2, MOST_GROUPS)
               && within(n->codes, 1, MOST_CODES)
               && within(n->vocabulary, n->codes + 1, MOST_VOCABULARY)
               && within(n->text_rows, 1, MOST_VOCABULARY)
               && within(n->max_positions, 1, MOST_POSITIONS)
               && within(n->sample_rate, 8000, 192000)
               && within(n->eos, n->codes, n->vocabulary - 1);
    for (size_t at = 0; at < sizeof codec / sizeof *codec; at++)
        good = good && within(codec[at], 0, n->vocabulary - 1);
    for (size_t at = 0; at < sizeof text / sizeof *text; at++)
        good = good && within(text[at], 0, n->text_rows - 1);
    return good ? 0 : damaged(fault, "model");
}

static int read_shape(Shape *shape, const PackedFile *file, const char *part, Fault *fault)
{
    char name[NAME];
    int32_t n[SHAPE_NUMBERS];
    float numbers[2];
    int status = file_read(file, named(name, part, "shape"), n, sizeof n, fault);
    if (!status) status = file_read(file, named(name, part, "floats"), numbers, 8, fault);
    if (status) return status;
    int good = within(n[0], 1, MOST_WIDTH) && n[0] % COLUMN_STEP == 0
               && within(n[1], 1, MOST_INNER) && n[1] % COLUMN_STEP == 0
               && within(n[2], 1, MOST_LAYERS) && within(n[3], 1, MOST_HEADS)
               && within(n[4], 1, n[3]) && n[3] % n[4] == 0
               && within(n[5], HEAD_STEP, MOST_HEAD_DIM) && n[5] % HEAD_STEP == 0
               && numbers[0] >= 1e-12f && numbers[0] <= 1 && numbers[1] >= 1
               && numbers[1] <= 1e12f;
    *shape = (Shape) { n[0], n[1], n[2], n[3], n[4], n[5], numbers[0], numbers[1] };
    return good ? 0 : damaged(fault, part);
}

/* --- matrices --------------------------------------------------------------------------------- */

/* Where each begins, and behind the last one what they take together; -1: bits of no matrix, or
 * more than there can be. */
static int lay_out(const Size *sizes, const int32_t *bits, int count, size_t *offsets)
{
    uint64_t total = 0;
    for (int at = 0; at < count; at++) {
        if (bits[at] != 4 && bits[at] != 8) return -1;
        offsets[at] = (size_t)total;
        size_t bytes = matrix_bytes(sizes[at].rows, sizes[at].columns, bits[at]);
        if (!bytes || bytes > SIZE_MAX / 4) return -1;
        total += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (total > SIZE_MAX / 4) return -1;
    }
    offsets[count] = (size_t)total;
    return 0;
}

static int fill_matrices(Matrices *matrices, const PackedFile *file, const char *part,
    const Size *sizes, const int32_t *bits, size_t *offsets, Fault *fault)
{
    char name[NAME];
    int count = matrices->count;
    const Section *section = file_find(file, named(name, part, "weights"), fault);
    if (!section) return S2S_QWEN3_NO_FILE;
    if (lay_out(sizes, bits, count, offsets) || section->bytes != offsets[count])
        return damaged(fault, name);
    matrices->memory = weights_new(offsets[count], 0);
    if (!matrices->memory) return no_memory(fault, name);
    for (int at = 0; at < count; at++) {
        uint8_t *data = (uint8_t *)matrices->memory + offsets[at];
        matrices->each[at] = matrix_new(sizes[at].rows, sizes[at].columns, bits[at], data);
        if (!matrices->each[at]) return no_memory(fault, name);
    }
    return file_read(file, name, matrices->memory, offsets[count], fault);
}

/* Sections PART.bits and PART.weights. */
static int read_matrices(Matrices *matrices, const PackedFile *file, const char *part,
    const Size *sizes, int count, Fault *fault)
{
    char name[NAME];
    int32_t *bits = calloc((size_t)count, sizeof *bits);
    size_t *offsets = calloc((size_t)count + 1, sizeof *offsets);
    int status;
    matrices->each = calloc((size_t)count, sizeof *matrices->each);
    matrices->count = count;
    if (!bits || !offsets || !matrices->each)
        status = no_memory(fault, part);
    else
        status = file_read(
            file, named(name, part, "bits"), bits, (uint64_t)count * sizeof *bits, fault);
    if (!status) status = fill_matrices(matrices, file, part, sizes, bits, offsets, fault);
    free(bits);
    free(offsets);
    return status;
}

static void free_matrices(Matrices *matrices)
{
    for (int at = 0; matrices->each && at < matrices->count; at++)
        matrix_free(matrices->each[at]);
    free(matrices->each);
    weights_free(matrices->memory);
}

/* --- a stack of layers ------------------------------------------------------------------------ */

static size_t layer_norms(const Shape *shape)
{
    return 2 * ((size_t)shape->hidden + (size_t)shape->head_dim);
}

static void set_layer(const Stack *stack, int at, Layer *layer)
{
    const Shape *shape = &stack->shape;
    Matrix *const *of = stack->matrices.each + at * LAYER_MATRICES;
    const float *norms = stack->norms + (size_t)at * layer_norms(shape);
    *layer = (Layer) { of[0], of[1], of[2], of[3], of[4], of[5], of[6], norms,
        norms + shape->hidden, norms + shape->hidden + shape->head_dim,
        norms + shape->hidden + 2 * shape->head_dim };
}

static int read_norms(Stack *stack, const PackedFile *file, const char *part, Fault *fault)
{
    char name[NAME];
    size_t count = layer_norms(&stack->shape) * (size_t)stack->shape.layers
                   + (size_t)stack->shape.hidden;
    stack->norms = malloc(count * sizeof *stack->norms);
    if (!stack->norms) return no_memory(fault, part);
    return file_read(
        file, named(name, part, "norms"), stack->norms, count * sizeof *stack->norms, fault);
}

static int read_layers(Stack *stack, const PackedFile *file, const char *part, Fault *fault)
{
    const Shape *shape = &stack->shape;
    int count = shape->layers * LAYER_MATRICES, inner = shape->heads * shape->head_dim;
    int narrow = shape->kv_heads * shape->head_dim, hidden = shape->hidden;
    const Size layer[LAYER_MATRICES] = { { inner, hidden }, { narrow, hidden },
        { narrow, hidden }, { hidden, inner }, { shape->intermediate, hidden },
        { shape->intermediate, hidden }, { hidden, shape->intermediate } };
    Size *sizes = malloc((size_t)count * sizeof *sizes);
    if (!sizes) return no_memory(fault, part);
    for (int at = 0; at < count; at++) sizes[at] = layer[at % LAYER_MATRICES];
    int status = read_matrices(&stack->matrices, file, part, sizes, count, fault);
    free(sizes);
    return status;
}

static int read_stack(
    Stack *stack, const PackedFile *file, const char *part, ThreadPool *pool, Fault *fault)
{
    int status = read_shape(&stack->shape, file, part, fault);
    if (!status) status = read_layers(stack, file, part, fault);
    if (!status) status = read_norms(stack, file, part, fault);
    if (status) return status;
    const Shape *shape = &stack->shape;
    Layer *layers = calloc((size_t)shape->layers, sizeof *layers);
    if (!layers) return no_memory(fault, part);
    for (int at = 0; at < shape->layers; at++) set_layer(stack, at, layers + at);
    stack->transformer = transformer_new(
        shape, layers, stack->norms + (size_t)shape->layers * layer_norms(shape), pool);
    free(layers);
    return stack->transformer ? 0 : no_memory(fault, part);
}

static void free_stack(Stack *stack)
{
    transformer_free(stack->transformer);
    free(stack->norms);
    free_matrices(&stack->matrices);
}

/* --- heads ------------------------------------------------------------------------------------ */

int is_projected(const LanguageModel *model)
{
    return model->talker.shape.hidden != model->predictor.shape.hidden;
}

static int read_heads(LanguageModel *model, const PackedFile *file, Fault *fault)
{
    int groups = model->numbers.groups - 1, width = model->predictor.shape.hidden;
    int codes = model->numbers.codes, projected = is_projected(model);
    Size sizes[MOST_GROUPS], head = { codes + 1, model->talker.shape.hidden };
    for (int at = 0; at < groups; at++) sizes[at] = (Size) { codes, width };
    sizes[groups] = (Size) { width, model->talker.shape.hidden };
    int status = read_matrices(&model->head, file, "head", &head, 1, fault);
    if (!status)
        status = read_matrices(&model->heads, file, "heads", sizes, groups + projected, fault);
    if (status || !projected) return status;
    model->projection_bias = malloc((size_t)width * sizeof(float));
    if (!model->projection_bias) return no_memory(fault, "projection");
    return file_read(file, "projection.bias", model->projection_bias,
        (uint64_t)width * sizeof(float), fault);
}

/* --- tables ----------------------------------------------------------------------------------- */

static int read_table(Table *table, const PackedFile *file, const char *name, int in_memory,
    Fault *fault)
{
    size_t columns = (size_t)table->columns;
    switch (table->type) {
    case F32: table->row_bytes = columns * 4; break;
    case F16: case BF16: table->row_bytes = columns * 2; break;
    case Q8_0: table->row_bytes = columns / Q8_BLOCK * Q8_BYTES; break;
    default: return damaged(fault, name);
    }
    uint64_t bytes = (uint64_t)table->row_bytes * (uint64_t)table->rows;
    table->section = file_find(file, name, fault);
    if (!table->section) return S2S_QWEN3_NO_FILE;
    if (table->section->bytes != bytes || bytes > SIZE_MAX / 2) return damaged(fault, name);
    if (!in_memory) return 0;
    table->data = malloc((size_t)bytes);
    if (!table->data) return no_memory(fault, name);
    return file_read(file, name, table->data, bytes, fault);
}

static int read_tables(LanguageModel *model, const PackedFile *file, Fault *fault)
{
    const Numbers *n = &model->numbers;
    int hidden = model->talker.shape.hidden, groups = n->groups - 1;
    model->text = (Table) { .type = n->text_type, .rows = n->text_rows, .columns = hidden };
    model->codec = (Table) { .type = n->code_type, .rows = n->vocabulary, .columns = hidden };
    model->codes = (Table) { .type = n->code_type, .rows = groups * n->codes, .columns = hidden };
    model->inputs = (Table) { .type = n->input_type,
        .rows = groups * n->codes,
        .columns = model->predictor.shape.hidden };
    if (n->code_type == Q8_0 || n->input_type == Q8_0) return damaged(fault, "model");
    int status = read_table(&model->text, file, "text", 0, fault);
    if (!status) status = read_table(&model->codec, file, "codec", 1, fault);
    if (!status) status = read_table(&model->codes, file, "codes", 1, fault);
    if (!status && is_projected(model))
        status = read_table(&model->inputs, file, "inputs", 1, fault);
    model->row = malloc(model->text.row_bytes + 1);
    return status || model->row ? status : no_memory(fault, "text");
}

static const void *rows_of_group(const Table *table, int group, int codes)
{
    return table->data + (size_t)group * (size_t)codes * table->row_bytes;
}

/* What choose_frame is given: of each group it chooses the head, and the vectors of the group
 * before. */
static int set_frame(LanguageModel *model, Fault *fault)
{
    const Numbers *n = &model->numbers;
    int groups = n->groups - 1;
    model->vectors = calloc((size_t)groups, sizeof *model->vectors);
    if (!model->vectors) return no_memory(fault, "heads");
    for (int at = 0; at < groups; at++) {
        if (is_projected(model))
            model->vectors[at] = rows_of_group(&model->inputs, at, n->codes);
        else
            model->vectors[at]
                = at ? rows_of_group(&model->codes, at - 1, n->codes) : model->codec.data;
    }
    model->frame = (Predictor) { model->predictor.transformer, groups, n->codes,
        model->predictor.shape.hidden, is_projected(model) ? n->input_type : n->code_type,
        (const Matrix *const *)model->heads.each, model->vectors };
    return 0;
}

int language_read(LanguageModel *model, const PackedFile *file, ThreadPool *pool, Fault *fault)
{
    int status = read_numbers(&model->numbers, file, fault);
    if (!status) status = read_stack(&model->talker, file, "talker", pool, fault);
    if (!status) status = read_stack(&model->predictor, file, "predictor", pool, fault);
    if (!status) status = read_heads(model, file, fault);
    if (!status) status = read_tables(model, file, fault);
    return status ? status : set_frame(model, fault);
}

void language_free(LanguageModel *model)
{
    free_stack(&model->talker);
    free_stack(&model->predictor);
    free_matrices(&model->head);
    free_matrices(&model->heads);
    free(model->projection_bias);
    free(model->codec.data);
    free(model->codes.data);
    free(model->inputs.data);
    free(model->vectors);
    free(model->row);
}

/* --- vectors ---------------------------------------------------------------------------------- */

static float value_of(int type, const uint8_t *row, int at)
{
    uint16_t half;
    uint32_t bits;
    float value;
    if (type == F32) {
        memcpy(&value, row + (size_t)at * 4, sizeof value);
        return value;
    }
    if (type == Q8_0) {
        const uint8_t *block = row + (size_t)(at / Q8_BLOCK) * Q8_BYTES;
        memcpy(&half, block, sizeof half);
        return (float)(int8_t)block[2 + at % Q8_BLOCK] * half_to_float(half);
    }
    memcpy(&half, row + (size_t)at * 2, sizeof half);
    if (type == F16) return half_to_float(half);
    bits = (uint32_t)half << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int table_row(
    const LanguageModel *model, const PackedFile *file, const Table *table, int row, int add,
    float *to, Fault *fault)
{
    uint64_t from = (uint64_t)row * table->row_bytes;
    const uint8_t *stored = table->data ? table->data + from : model->row;
    if (!table->data) {
        int status
            = file_read_part(file, table->section, from, model->row, table->row_bytes, fault);
        if (status) return status;
    }
    for (int at = 0; at < table->columns; at++) {
        float value = value_of(table->type, stored, at);
        to[at] = add ? to[at] + value : value;
    }
    return 0;
}

int frame_vector(
    const LanguageModel *model, const PackedFile *file, const int32_t *codes, float *to,
    Fault *fault)
{
    int status = table_row(model, file, &model->codec, codes[0], 0, to, fault);
    for (int at = 1; !status && at < model->numbers.groups; at++)
        status = table_row(model, file, &model->codes, (at - 1) * model->numbers.codes + codes[at],
            1, to, fault);
    return status;
}

int predictor_input(
    const LanguageModel *model, const PackedFile *file, ThreadPool *pool, const float *hidden,
    int code, float *to, Fault *fault)
{
    int width = model->predictor.shape.hidden, last = model->heads.count - 1;
    if (!is_projected(model)) {
        memcpy(to, hidden, (size_t)width * sizeof *to);
        return table_row(model, file, &model->codec, code, 0, to + width, fault);
    }
    int status = matrix_product(pool, model->heads.each[last], hidden, to);
    if (status == FORKED)
        return fail(fault, S2S_QWEN3_FORKED, "the process was forked after the model was opened");
    if (status) return no_memory(fault, "a product");
    for (int at = 0; at < width; at++) to[at] += model->projection_bias[at];
    return table_row(model, file, &model->inputs, code, 0, to + width, fault);
}
