/* The kernel without Python: runs what a file of golden values holds, in one level.
 *
 *     driver FILE [THREADS]
 *
 * Each case is run whole and split, on one thread and on several: all must have the same bits. What
 * allocates does it where each of its allocations fails in turn. Ends with 1 when a result is not
 * what is wanted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"
#include "code_predictor.h"
#include "codec_transformer.h"
#include "codec_transposed.h"
#include "codec_upsampler.h"
#include "golden_file.h"
#include "hostile.h"
#include "simd.h"

enum { NAMES = 64, UNSPLIT = 1 << 20 };

static ThreadPool *pools[2]; /* of one thread, of several */

static const char *part(const char *of, int number, const char *name)
{
    static char whole[NAMES];
    snprintf(whole, sizeof whole, "%s%d.%s", of, number, name);
    return whole;
}

static void no_memory(void)
{
    fprintf(stderr, "no memory\n");
    exit(2);
}

/* --- quantised products ----------------------------------------------------------------------- */

/* The matrix whose tensor has this name. */
static Matrix *read_matrix(const char *name, int rows, int columns, int type, int bits)
{
    uint8_t *data = case_memory(matrix_bytes(rows, columns, bits));
    memset(data, 0, matrix_bytes(rows, columns, bits));
    Matrix *made = matrix_new(rows, columns, bits, data), *kept = case_memory(sizeof *kept);
    if (!made) no_memory();
    *kept = *made;
    matrix_free(made);
    if (matrix_fill(kept, type, golden_bytes(name), 0, rows)) {
        fprintf(stderr, "%s: type %d into %d bits\n", name, type, bits);
        exit(2);
    }
    return kept;
}

/* All of `count` rows at once, tile by tile. */
static void multiply_at_once(const Matrix *matrix, const float *x, int count, float *y)
{
    size_t blocks = (size_t)(matrix->columns / 32), all = (size_t)count * blocks;
    Quantised rows = { case_memory(all * 32), case_memory(all * sizeof(float)),
        case_memory(all * sizeof(int32_t)), case_memory(all * sizeof(float)), matrix->columns };
    float results[MAX_ROWS * 16];
    for (int row = 0; row < count; row++)
        quantise(&rows, row, x + (size_t)row * (size_t)matrix->columns);
    for (int tile = 0; tile * 16 < matrix->rows; tile++) {
        int wanted = matrix->rows - 16 * tile < 16 ? matrix->rows - 16 * tile : 16;
        tile_product(matrix, tile, &rows, 0, count, results);
        for (int row = 0; row < count; row++)
            memcpy(y + (size_t)row * (size_t)matrix->rows + 16 * tile, results + 16 * row,
                (size_t)wanted * sizeof(float));
    }
}

static void run_products(void)
{
    while (next_case("product")) {
        const int32_t *shape = golden_ints("shape", 5);
        int rows = shape[0], columns = shape[1], count = shape[4];
        size_t results = (size_t)rows * (size_t)count;
        Matrix *matrix = read_matrix("raw", rows, columns, shape[2], shape[3]);
        const float *x = golden_floats("x", (size_t)columns * (size_t)count);
        float *y = case_memory(results * sizeof(float)), *again = case_memory(results * sizeof(float));
        for (int at = 0; at < count; at++)
            if (matrix_product(pools[0], matrix, x + at * columns, y + at * rows)) no_memory();
        compare("product", y, results);
        const Matrix *same[MAX_ROWS];
        for (int at = 0; at < count; at++) same[at] = matrix;
        int status;
        WHEN_MEMORY_IS_SCARCE(
            status, matrix_products(pools[1], same, count, x, 1, again), status == -1)
        must_be("no more rows than there are registers for",
            matrix_products(pools[1], same, MAX_ROWS + 1, x, 0, again) == -1);
        must_equal("of several threads", y, again, results * sizeof(float));
        multiply_at_once(matrix, x, count, again);
        must_equal("of all rows", y, again, results * sizeof(float));
    }
}

/* --- attention -------------------------------------------------------------------------------- */

static void run_attention(void)
{
    while (next_case("attention")) {
        const int32_t *shape = golden_ints("shape", 3);
        int old = shape[0], fresh = shape[1], width = shape[2];
        size_t values = (size_t)(old + fresh) * (size_t)width;
        const float *query = golden_floats("query", (size_t)width);
        const float *keys = golden_floats("keys", values), *of = golden_floats("values", values);
        float *out = case_memory((size_t)width * sizeof(float));
        float *weights = case_memory((size_t)(old + fresh) * sizeof(float));
        stored *cached = case_memory(2 * values * sizeof(stored));
        for (size_t at = 0; at < values; at += LANES) {
            narrow(cached + at, load(keys + at));
            narrow(cached + values + at, load(of + at));
        }
        ptrdiff_t split = (ptrdiff_t)old * width;
        Stretch floats_in[] = { { { keys, width }, { of, width }, old },
            { { keys + split, width }, { of + split, width }, fresh } };
        Stretch stored_in = { { cached, width }, { cached + values, width }, old + fresh };
        Context context = { floats_in, 2, width, *golden_floats("scale", 1) };
        attend_floats(&context, query, weights, out);
        compare("floats", out, (size_t)width);
        context.stretches = &stored_in;
        context.count = 1;
        attend_stored(&context, query, weights, out);
        compare("stored", out, (size_t)width);
    }
}

/* --- the talker and the code predictor ---------------------------------------------------------- */

static Shape read_shape(const int32_t *shape)
{
    return (Shape) { shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], 1e-6f, 10000.0f };
}

/* shape: of the case, whose last two numbers are type and bits of the matrices. */
static Transformer *read_transformer(const int32_t *numbers, ThreadPool *pool)
{
    Shape shape = read_shape(numbers);
    int hidden = shape.hidden, inner = shape.heads * shape.head_dim, type = numbers[6];
    int kv = shape.kv_heads * shape.head_dim, wide = shape.intermediate, bits = numbers[7];
    Layer *layers = case_memory((size_t)shape.layers * sizeof *layers);
    for (int at = 0; at < shape.layers; at++)
        layers[at] = (Layer) {
            .query = read_matrix(part("layer", at, "query"), inner, hidden, type, bits),
            .key = read_matrix(part("layer", at, "key"), kv, hidden, type, bits),
            .value = read_matrix(part("layer", at, "value"), kv, hidden, type, bits),
            .out = read_matrix(part("layer", at, "out"), hidden, inner, type, bits),
            .gate = read_matrix(part("layer", at, "gate"), wide, hidden, type, bits),
            .up = read_matrix(part("layer", at, "up"), wide, hidden, type, bits),
            .down = read_matrix(part("layer", at, "down"), hidden, wide, type, bits),
            .attention_norm = golden_floats(part("layer", at, "attention_norm"), (size_t)hidden),
            .query_norm = golden_floats(part("layer", at, "query_norm"), (size_t)shape.head_dim),
            .key_norm = golden_floats(part("layer", at, "key_norm"), (size_t)shape.head_dim),
            .mlp_norm = golden_floats(part("layer", at, "mlp_norm"), (size_t)hidden),
        };
    const float *norm = golden_floats("norm", (size_t)hidden);
    Transformer *made;
    MADE_OF_SCARCE_MEMORY(made, transformer_new(&shape, layers, norm, pool));
    return made;
}

static KvCache *new_cache(const Transformer *transformer, int positions)
{
    KvCache *cache;
    MADE_OF_SCARCE_MEMORY(cache, cache_new(transformer, positions));
    return cache;
}

static void forward_split(
    Transformer *transformer, const float *in, int positions, int hidden, int size, float *out)
{
    KvCache *cache = new_cache(transformer, positions);
    for (int at = 0; at < positions; at += size) {
        int some = positions - at < size ? positions - at : size, before = cache_length(cache), status;
        WHEN_MEMORY_IS_SCARCE(status,
            transformer_forward(transformer, cache, in + at * hidden, some, out + at * hidden),
            status == -2 && cache_length(cache) == before)
        must_be("all positions are in the cache", cache_length(cache) == before + some);
    }
    if (transformer_forward(transformer, cache, in, 1, out) != -1) {
        fprintf(stderr, "a full cache takes another position\n");
        exit(1);
    }
    cache_free(cache);
}

static void run_transformers(void)
{
    while (next_case("transformer")) {
        const int32_t *shape = golden_ints("shape", 9);
        int hidden = shape[0], positions = shape[8];
        size_t values = (size_t)hidden * (size_t)positions;
        const float *in = golden_floats("in", values);
        float *out = case_memory(values * sizeof(float)), *again = case_memory(values * sizeof(float));
        Transformer *transformer = read_transformer(shape, pools[0]);
        forward_split(transformer, in, positions, hidden, UNSPLIT, out);
        compare("forward", out, values);
        for (int size = 1; size <= 9; size += 4) {
            transformer_use(transformer, pools[size > 1]);
            forward_split(transformer, in, positions, hidden, size, again);
            must_equal("forward in parts", out, again, values * sizeof(float));
        }
        transformer_free(transformer);
    }
}

static void run_frames(void)
{
    while (next_case("frame")) {
        const int32_t *shape = golden_ints("shape", 11);
        int hidden = shape[0], groups = shape[9], codes = shape[10], chosen[MAX_DRAFT_TOKENS * 4];
        const float *first = golden_floats("first", 2 * (size_t)hidden);
        const float *uniforms = golden_floats("uniforms", (size_t)frame_uniforms(groups, 7));
        const Matrix **heads = case_memory((size_t)groups * sizeof *heads);
        const void **vectors = case_memory((size_t)groups * sizeof *vectors);
        for (int at = 0; at < groups; at++) {
            heads[at] = read_matrix(part("head", at, "raw"), codes, hidden, F32, 8);
            vectors[at] = golden_floats(
                part("vector", at, "raw"), (size_t)codes * (size_t)hidden);
        }
        Predictor predictor = { read_transformer(shape, pools[1]), groups, codes, hidden, F32, heads,
            vectors };
        KvCache *cache = new_cache(predictor.transformer, groups + 8);
        Sampling greedy = { 1, 0, 1, 1 }, drawn = { 0, 20, 0.9f, 0.95f };
        for (int drafts = 0; drafts <= 7; drafts += drafts ? 3 : 1) {
            int passes;
            WHEN_MEMORY_IS_SCARCE(passes,
                choose_frame(&predictor, cache, first, drafts, &greedy, uniforms, chosen),
                passes < 0)
            compare_ints("greedy", chosen, (size_t)groups);
        }
        for (int drafts = 0; drafts <= 7; drafts += 7) {
            if (choose_frame(&predictor, cache, first, drafts, &drawn, uniforms, chosen) < 0)
                no_memory();
            show_ints("drawn", chosen, (size_t)groups);
        }
        for (int drafts = -1; drafts <= MAX_DRAFT_TOKENS + 1; drafts += MAX_DRAFT_TOKENS + 2)
            must_be("as many draft tokens",
                choose_frame(&predictor, cache, first, drafts, &drawn, uniforms, chosen) == -1);
        cache_free(cache);
        transformer_free(predictor.transformer);
    }
}

/* --- the codec -------------------------------------------------------------------------------- */

/* `NAME.matrix` [taps * in][out] in panels, with `NAME.bias`. */
static PackedWeights read_weights(const char *name, int number, int taps, int in, int out)
{
    char matrix_name[NAMES], bias_name[NAMES];
    snprintf(matrix_name, sizeof matrix_name, "%s%d.matrix", name, number);
    snprintf(bias_name, sizeof bias_name, "%s%d.bias", name, number);
    size_t depth = (size_t)(taps * in), panels = (size_t)((out + PANEL - 1) / PANEL);
    const float *matrix = golden_floats(matrix_name, depth * (size_t)out);
    float *packed = case_memory(panels * depth * PANEL * sizeof *packed);
    for (size_t panel = 0; panel < panels; panel++)
        for (size_t row = 0; row < depth; row++)
            for (size_t at = 0; at < PANEL; at++) {
                size_t column = panel * PANEL + at;
                packed[(panel * depth + row) * PANEL + at]
                    = column < (size_t)out ? matrix[row * (size_t)out + column] : 0;
            }
    return (PackedWeights) { taps, in, out, packed, golden_floats(bias_name, (size_t)out) };
}

static Snake read_snake(const char *name, int number, int width)
{
    char frequency[NAMES], scale[NAMES];
    snprintf(frequency, sizeof frequency, "%s%d.frequency", name, number);
    snprintf(scale, sizeof scale, "%s%d.scale", name, number);
    return (Snake) { golden_floats(frequency, (size_t)width), golden_floats(scale, (size_t)width) };
}

/* Streaming states: how many floats each has at a position. */
typedef struct { int count; size_t sizes[64]; float *values[64]; } States;

static void new_states(States *states)
{
    for (int at = 0; at < states->count; at++) {
        states->values[at] = case_memory(states->sizes[at] * sizeof(float));
        memset(states->values[at], 0, states->sizes[at] * sizeof(float));
    }
}

static States codec_states(const CodecTransformerShape *shape, int position)
{
    int rows = position < shape->window - 1 ? position : shape->window - 1;
    States states = { 1 + 2 * shape->layers + shape->upsamples, { 0 }, { 0 } };
    states.sizes[0] = (size_t)((shape->input.taps - 1) * shape->input.in);
    for (int at = 1; at <= 2 * shape->layers; at++)
        states.sizes[at] = (size_t)(shape->heads * rows * shape->head_dim);
    for (int at = 0; at < shape->upsamples; at++)
        states.sizes[1 + 2 * shape->layers + at] = (size_t)(6 * shape->upsample[at].up.in);
    new_states(&states);
    return states;
}

/* Numbers of the case's shape: frames, layers, heads, head_dim, window, upsamples, into, hidden,
 * inner, latent, and the factor of every upsampling. */
static CodecTransformerShape read_codec_shape(const int32_t *of)
{
    int hidden = of[7], inner = of[8], latent = of[9], heads = of[2] * of[3];
    CodecTransformerLayer *layers = case_memory((size_t)of[1] * sizeof *layers);
    Upsample *upsamples = case_memory((size_t)of[5] * sizeof *upsamples);
    for (int at = 0; at < of[1]; at++)
        layers[at] = (CodecTransformerLayer) { read_weights("qkv", at, 1, hidden, 3 * heads),
            read_weights("out", at, 1, heads, hidden),
            read_weights("gate_up", at, 1, hidden, 2 * inner),
            read_weights("down", at, 1, inner, hidden) };
    for (int at = 0; at < of[5]; at++)
        upsamples[at] = (Upsample) {
            read_weights("transposed", at, 1, at ? latent : hidden, of[10] * latent),
            golden_floats(part("depthwise", at, "taps"), 7 * (size_t)latent),
            golden_floats(part("depthwise", at, "bias"), (size_t)latent),
            read_weights("up", at, 1, latent, 4 * latent),
            read_weights("shrink", at, 1, 4 * latent, latent) };
    return (CodecTransformerShape) { of[1], of[2], of[3], of[4], of[5], of[0], 1e-5f, 1e-6f,
        golden_floats("frequencies", (size_t)of[3] / 2), read_weights("input", 0, 3, of[6], hidden),
        layers, upsamples };
}

static void run_codec_transformers(void)
{
    while (next_case("codec_transformer")) {
        const int32_t *numbers = golden_ints("shape", 11);
        CodecTransformerShape shape = read_codec_shape(numbers);
        int frames = numbers[0], steps = 1, into = numbers[6], latent = numbers[9];
        for (int at = 0; at < shape.upsamples; at++) steps *= numbers[10];
        size_t values = (size_t)(frames * steps * latent);
        const float *in = golden_floats("in", (size_t)(frames * into));
        float *out = case_memory(values * sizeof(float)), *again = case_memory(values * sizeof(float));
        for (int size = frames, run = 0; run < 3; size = run ? 1 : 3, run++) {
            CodecTransformer *transformer;
            MADE_OF_SCARCE_MEMORY(transformer, codec_transformer_new(&shape, pools[run != 0]));
            States states = codec_states(&shape, 0);
            for (int at = 0; at < frames; at += size) {
                int some = frames - at < size ? frames - at : size;
                States next = codec_states(&shape, at + some);
                codec_transformer_run(transformer, in + at * into, some, at, states.values,
                    next.values, (run ? again : out) + at * steps * latent);
                states = next;
            }
            codec_transformer_free(transformer);
            if (run) must_equal("latents in parts", out, again, values * sizeof(float));
        }
        compare("latents", out, values);
    }
}

/* Numbers of the case's shape: frames, steps, blocks, batched blocks, latent, and then the width at
 * the input of each block, its stride, and the width behind the last. */
static CodecUpsamplerShape read_upsampler_shape(const int32_t *of)
{
    static const int dilations[RESIDUAL_UNITS] = { 1, 3, 9 };
    int blocks = of[2], steps = of[1];
    Block *made = case_memory((size_t)blocks * sizeof *made);
    for (int at = 0; at < blocks; at++) {
        int in = of[5 + 2 * at], stride = of[6 + 2 * at], out = of[7 + 2 * at];
        made[at].stride = stride;
        made[at].snake_in = read_snake("snake", at, in);
        made[at].transposed = read_weights("transposed", at,
            steps % TRANSPOSED_STEPS ? 2 : TRANSPOSED_MATRICES, in, stride * out);
        steps *= stride;
        for (int unit = 0; unit < RESIDUAL_UNITS; unit++) {
            int name = 10 * at + unit;
            made[at].units[unit] = (ResidualUnit) { dilations[unit],
                read_snake("before", name, out),
                read_weights("winograd", name, WINOGRAD_MATRICES, out, out),
                read_snake("middle", name, out), read_weights("pointwise", name, 1, out, out) };
        }
    }
    return (CodecUpsamplerShape) { of[1], blocks, of[3], of[0], read_weights("input", 0, 7, of[4], of[5]),
        made, read_snake("last", 0, of[5 + 2 * blocks]),
        golden_floats("output.taps", 7 * (size_t)of[5 + 2 * blocks]), golden_floats("output.bias", 1) };
}

static States upsampler_states(const CodecUpsamplerShape *shape)
{
    States states = { 1, { (size_t)(6 * shape->input.in) }, { 0 } };
    for (int at = 0; at < shape->blocks; at++) {
        const Block *block = shape->block + at;
        states.sizes[states.count++] = (size_t)block->transposed.in;
        for (int unit = 0; unit < RESIDUAL_UNITS; unit++)
            states.sizes[states.count++]
                = (size_t)(6 * block->units[unit].dilation * block->units[unit].winograd.in);
    }
    states.sizes[states.count++]
        = (size_t)(6 * shape->block[shape->blocks - 1].units[0].winograd.in);
    new_states(&states);
    return states;
}

static int at_once(void)
{
    return 1;
}

static void run_upsamplers(void)
{
    while (next_case("codec_upsampler")) {
        int32_t *numbers = golden_optional("shape");
        CodecUpsamplerShape shape = read_upsampler_shape(numbers);
        int frames = numbers[0], steps = numbers[1], latent = numbers[4], samples = steps;
        for (int at = 0; at < shape.blocks; at++) samples *= shape.block[at].stride;
        size_t values = (size_t)(frames * samples);
        const float *in = golden_floats("in", (size_t)(frames * steps * latent));
        float *out = case_memory(values * sizeof(float)), *again = case_memory(values * sizeof(float));
        for (int size = frames, run = 0; run < 3; size = run ? 1 : 3, run++) {
            CodecUpsampler *upsampler;
            MADE_OF_SCARCE_MEMORY(upsampler, codec_upsampler_new(&shape, pools[run != 0]));
            States states = upsampler_states(&shape), next = upsampler_states(&shape);
            if (!codec_upsampler_run(
                    upsampler, in, 1, 0, states.values, next.values, again, at_once))
                must_equal("a cancelled run", "went", "on", 2);
            for (int at = 0; at < frames; at += size) {
                int some = frames - at < size ? frames - at : size;
                next = upsampler_states(&shape);
                codec_upsampler_run(upsampler, in + at * steps * latent, some, at, states.values,
                    next.values, (run ? again : out) + at * samples, NULL);
                states = next;
            }
            codec_upsampler_free(upsampler);
            if (run) must_equal("samples in parts", out, again, values * sizeof(float));
        }
        compare("samples", out, values);
    }
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: driver FILE [THREADS]\n");
        return 2;
    }
    golden_read(arguments[1]);
    int pieces = scarce_pieces();
    pools[0] = pool_new(1);
    pools[1] = pool_new(count > 2 ? atoi(arguments[2]) : 3);
    if (!pools[0] || !pools[1]) no_memory();
    printf("instructions %s\n", instructions());
    run_products();
    run_attention();
    run_transformers();
    run_frames();
    run_codec_transformers();
    run_upsamplers();
    run_sizes();
    pool_free(pools[0]);
    pool_free(pools[1]);
    must_be("all was freed", scarce_pieces() == pieces);
    printf("%d failures\n", failures());
    return failures() ? 1 : 0;
}
