#include "hostile.h"

#include <string.h>

#include "codec_transformer.h"
#include "codec_upsampler.h"
#include "transformer.h"

/* What a case makes, and how many numbers say it. */
enum { WEIGHTS, MATRIX, TRANSFORMER, CODEC_TRANSFORMER, CODEC_UPSAMPLER, NUMBERS = 16, MOST_LAYERS = 64 };

typedef struct { size_t before; ThreadPool *pool; } Scarcity;

static Scarcity begin(ThreadPool *pool)
{
    Scarcity now = { scarce_bytes(), pool };
    scarce(MOST_ALLOCATIONS);
    return now;
}

static void end(const char *what, Scarcity began, int made)
{
    size_t bytes = scarce_bytes() - began.before;
    scarce(PLENTY);
    show_made(what, made, bytes);
}

static void make_weights(const int32_t *of, ThreadPool *pool)
{
    size_t bytes = (size_t)(uint32_t)of[0] << 31 << 1 | (uint32_t)of[1];
    Scarcity now = begin(pool);
    void *weights = weights_new(bytes, 0);
    end("weights", now, weights != NULL);
    weights_free(weights);
}

static void make_matrix(const int32_t *of, ThreadPool *pool)
{
    size_t bytes = matrix_bytes(of[0], of[1], of[2]);
    Scarcity now = begin(pool);
    uint8_t *data = bytes ? weights_new(bytes, 0) : NULL;
    Matrix *matrix = data ? matrix_new(of[0], of[1], of[2], data) : NULL;
    end("matrix", now, matrix != NULL);
    must_be("a matrix of no bytes is not made", bytes || !matrix_new(of[0], of[1], of[2], data));
    if (matrix) {
        uint8_t none = 0;
        must_be("no row behind the last", matrix_fill(matrix, Q8_0, &none, of[0], 1) == -1);
        must_be("no row before the first", matrix_fill(matrix, Q8_0, &none, -1, 1) == -1);
        must_be("not fewer than none", matrix_fill(matrix, Q8_0, &none, 0, -1) == -1);
        must_be("not so many rows", matrix_fill(matrix, Q8_0, &none, 1, INT32_MAX) == -1);
    }
    matrix_free(matrix);
    weights_free(data);
}

static void make_transformer(const int32_t *of, ThreadPool *pool)
{
    Shape shape = { of[0], of[1], of[2], of[3], of[4], of[5], 1e-6f, 10000.0f };
    static uint64_t zeros[MOST_BYTES / sizeof(uint64_t)]; /* whatever is granted is not larger */
    float *norm = (void *)zeros;
    Scarcity now = begin(pool);
    Transformer *transformer = transformer_new(&shape, (const void *)zeros, norm, pool);
    end("transformer", now, transformer != NULL);
    if (!transformer) return;
    now = begin(pool);
    KvCache *cache = cache_new(transformer, of[6]);
    end("cache", now, cache != NULL);
    if (cache) {
        must_be("not fewer positions than none",
            transformer_forward(transformer, cache, norm, -1, norm) == -1);
        must_be("not more than there is room for",
            transformer_forward(transformer, cache, norm, INT32_MAX, norm) == -1);
        cache_rewind(cache, -1);
        cache_rewind(cache, of[6]);
        must_be("nothing to rewind to", cache_length(cache) == 0);
    }
    cache_free(cache);
    transformer_free(transformer);
}

static PackedWeights weights_of(int taps, int in, int64_t out)
{
    int whole = out < INT32_MIN || out > INT32_MAX ? -1 : (int)out;
    return (PackedWeights) { taps, in, whole, NULL, NULL };
}

/* frames, layers, heads, head_dim, window, upsamples, into, hidden, inner, latent, factor */
static void make_codec_transformer(const int32_t *of, ThreadPool *pool)
{
    CodecTransformerLayer layers[MOST_LAYERS];
    Upsample upsamples[MOST_LAYERS];
    int64_t heads = (int64_t)of[2] * of[3];
    int hidden = of[7], inner = of[8], latent = of[9];
    if (heads < 0 || heads > INT32_MAX) heads = -1;
    for (int at = 0; at < MOST_LAYERS; at++) {
        layers[at] = (CodecTransformerLayer) { weights_of(1, hidden, 3 * heads),
            weights_of(1, (int)heads, hidden),
            weights_of(1, hidden, 2 * (int64_t)inner), weights_of(1, inner, hidden) };
        upsamples[at] = (Upsample) {
            weights_of(1, at ? latent : hidden, (int64_t)of[10] * latent), NULL, NULL,
            weights_of(1, latent, 4 * (int64_t)latent),
            weights_of(1, latent > INT32_MAX / 4 || latent < 0 ? -1 : 4 * latent, latent) };
    }
    CodecTransformerShape shape = { of[1], of[2], of[3], of[4], of[5], of[0], 1e-5f, 1e-6f, NULL,
        weights_of(3, of[6], hidden), layers, upsamples };
    Scarcity now = begin(pool);
    CodecTransformer *made = codec_transformer_new(&shape, pool);
    end("codec_transformer", now, made != NULL);
    if (made) {
        float *const none[] = { NULL };
        must_be("frames", codec_transformer_run(made, NULL, 0, 0, none, none, NULL) == -1);
        if (of[0] < INT32_MAX)
            must_be("as many frames",
                codec_transformer_run(made, NULL, of[0] + 1, 0, none, none, NULL) == -1);
        must_be("a position", codec_transformer_run(made, NULL, 1, -1, none, none, NULL) == -1);
    }
    codec_transformer_free(made);
}

/* frames, steps, blocks, batched, latent, width, stride, dilation: each block halves its width, but
 * not below CODEC_PAD. */
static void make_codec_upsampler(const int32_t *of, ThreadPool *pool)
{
    Block blocks[MOST_LAYERS];
    int width = of[5];
    memset(blocks, 0, sizeof blocks);
    for (int at = 0; at < MOST_LAYERS; at++) {
        int out = width > 2 * CODEC_PAD ? width / 2 : width;
        blocks[at].stride = of[6];
        blocks[at].transposed = weights_of(2, width, (int64_t)of[6] * out);
        for (int unit = 0; unit < RESIDUAL_UNITS; unit++) {
            blocks[at].units[unit].dilation = of[7];
            blocks[at].units[unit].winograd = weights_of(WINOGRAD_MATRICES, out, out);
            blocks[at].units[unit].pointwise = weights_of(1, out, out);
        }
        width = out;
    }
    CodecUpsamplerShape shape = { of[1], of[2], of[3], of[0], weights_of(7, of[4], of[5]), blocks,
        { NULL, NULL }, NULL, NULL };
    Scarcity now = begin(pool);
    CodecUpsampler *made = codec_upsampler_new(&shape, pool);
    end("codec_upsampler", now, made != NULL);
    if (made) {
        float *const none[] = { NULL };
        must_be("frames", codec_upsampler_run(made, NULL, 0, 0, none, none, NULL, NULL) == -1);
        if (of[0] < INT32_MAX)
            must_be("as many frames",
                codec_upsampler_run(made, NULL, of[0] + 1, 0, none, none, NULL, NULL) == -1);
        must_be("a position", codec_upsampler_run(made, NULL, 1, -1, none, none, NULL, NULL) == -1);
    }
    codec_upsampler_free(made);
}

void run_sizes(void)
{
    static void (*const make[])(const int32_t *of, ThreadPool *pool) = {
        [WEIGHTS] = make_weights,
        [MATRIX] = make_matrix,
        [TRANSFORMER] = make_transformer,
        [CODEC_TRANSFORMER] = make_codec_transformer,
        [CODEC_UPSAMPLER] = make_codec_upsampler,
    };
    ThreadPool *pool = NULL;
    MADE_OF_SCARCE_MEMORY(pool, pool_new(3));
    while (next_case("sizes")) {
        int32_t of[NUMBERS];
        memcpy(of, golden_ints("shape", NUMBERS), sizeof of);
        int before = scarce_pieces();
        make[of[0]](of + 1, pool);
        must_be("all was freed", scarce_pieces() == before);
    }
    pool_free(pool);
}
