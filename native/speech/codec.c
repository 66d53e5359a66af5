#include "codec.h"

#include <stdlib.h>
#include <string.h>

#include "codec_weights.h"
#include "matrix.h"
#include "platform.h"
#include "s2s_qwen3.h"

/* The most that is read: docs/decisions/qwen3-model-file-bounds.md. MOST_FLOATS: of weights, and of
 * what one run computes with; nothing that is counted in an int comes near its end. */
enum {
    MOST_LAYERS = 256, MOST_HEADS = 256, MOST_HEAD_DIM = 1024, MOST_WIDTH = 1 << 15,
    MOST_INNER = 1 << 17, MOST_CODES = 1 << 15, MOST_GROUPS = 128, MOST_WINDOW = 4096,
    MOST_STRIDE = 64, MOST_SAMPLES = 1 << 15, MOST_FLOATS = 1 << 29, HISTORY = 6,
    TRANSFORMER = 0, UPSAMPLER = 1
};

static int damaged(Fault *fault, const char *what)
{
    return fail(fault, S2S_QWEN3_NO_FILE, "%s: no such codec can be computed: pack it again", what);
}

static int no_memory(Fault *fault)
{
    return fail(fault, S2S_QWEN3_NO_MEMORY, "no memory for the codec, or none such can be computed");
}

static int within(int32_t value, int32_t least, int32_t most)
{
    return value >= least && value <= most;
}

/* A width that fills the kernel's registers. */
static int width_within(int32_t value, int32_t most)
{
    return within(value, CODEC_PAD, most) && value % CODEC_PAD == 0;
}

static int product_of(const int32_t *strides, int count)
{
    int64_t product = 1;
    for (int at = 0; at < count; at++) {
        if (!within(strides[at], 1, MOST_STRIDE)) return -1;
        product *= strides[at];
        if (product > MOST_SAMPLES) return -1;
    }
    return (int)product;
}

static int read_numbers(Codec *codec, const PackedFile *file, Fault *fault)
{
    CodecNumbers *n = &codec->numbers;
    int status = file_read(file, "codec.shape", n, sizeof *n, fault);
    if (status) return status;
    int good = within(n->groups, 2, MOST_GROUPS) && within(n->codes, 1, MOST_CODES)
               && width_within(n->book_width, MOST_WIDTH) && width_within(n->latent, MOST_WIDTH)
               && width_within(n->hidden, MOST_WIDTH) && width_within(n->intermediate, MOST_INNER)
               && within(n->layers, 1, MOST_LAYERS) && within(n->heads, 1, MOST_HEADS)
               && width_within(n->head_dim, MOST_HEAD_DIM) && within(n->window, 2, MOST_WINDOW)
               && within(n->ratio_count, 1, MOST_RATIOS) && within(n->rate_count, 2, MOST_RATES)
               && within(n->decoder, 1, MOST_WIDTH);
    if (!good || n->decoder % (1 << n->rate_count)) return damaged(fault, "codec.shape");
    int steps = product_of(n->ratios, n->ratio_count), rest = product_of(n->rates, n->rate_count);
    if (steps < 1 || rest < 1 || (int64_t)steps * rest > MOST_SAMPLES
        || (int64_t)FRAMES_A_RUN * steps * 4 * n->latent > MOST_FLOATS
        || (int64_t)FRAMES_A_RUN * steps * rest * n->decoder > MOST_FLOATS)
        return damaged(fault, "codec.shape");
    codec->steps = steps;
    codec->frame_samples = steps * rest;
    return 0;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Weights of a section that has just as many as are in use. */
static int read_weights(
    Codec *codec, int which, const PackedFile *file, const char *name, uint64_t used, Fault *fault)
{
    const Section *section = file_find(file, name, fault);
    if (!section) return S2S_QWEN3_NO_FILE;
    if (used > MOST_FLOATS || section->bytes != used * sizeof(float))
        return damaged(fault, name);
    codec->weights[which] = weights_new((size_t)section->bytes, 0);
    if (!codec->weights[which]) return no_memory(fault);
    return file_read(file, name, codec->weights[which], section->bytes, fault);
}

static int read_transformer(Codec *codec, const PackedFile *file, ThreadPool *pool, Fault *fault)
{
    CodecTransformerShape shape;
    Cursor measure = { NULL, 0 };
    float epsilons[2];
    int status = file_read(file, "codec.floats", epsilons, sizeof epsilons, fault);
    if (status) return status;
    if (!(epsilons[0] >= 1e-12f && epsilons[0] <= 1 && epsilons[1] >= 1e-12f && epsilons[1] <= 1))
        return damaged(fault, "codec.floats");
    lay_transformer(codec, &measure, &shape);
    status = read_weights(codec, TRANSFORMER, file, "codec.transformer", measure.used, fault);
    if (status) return status;
    Cursor cursor = { codec->weights[TRANSFORMER], 0 };
    lay_transformer(codec, &cursor, &shape);
    shape.epsilon = epsilons[0];
    shape.step_epsilon = epsilons[1];
    codec->transformer = codec_transformer_new(&shape, pool);
    return codec->transformer ? 0 : no_memory(fault);
}

static int read_upsampler(Codec *codec, const PackedFile *file, ThreadPool *pool, Fault *fault)
{
    CodecUpsamplerShape shape;
    Cursor measure = { NULL, 0 };
    lay_upsampler(codec, &measure, &shape);
    int status = read_weights(codec, UPSAMPLER, file, "codec.upsampler", measure.used, fault);
    if (status) return status;
    Cursor cursor = { codec->weights[UPSAMPLER], 0 };
    lay_upsampler(codec, &cursor, &shape);
    codec->upsampler = codec_upsampler_new(&shape, pool);
    return codec->upsampler ? 0 : no_memory(fault);
}

/* --- the state of a stream -------------------------------------------------------------------- */

static void measure_states(Codec *codec)
{
    const CodecNumbers *n = &codec->numbers;
    size_t *to = codec->state_floats, latent = (size_t)n->latent;
    size_t window = (size_t)n->heads * (size_t)(n->window - 1) * (size_t)n->head_dim;
    *to++ = 2 * (size_t)n->book_width; /* of three taps */
    for (int at = 0; at < 2 * n->layers; at++) *to++ = window;
    for (int at = 0; at < n->ratio_count; at++) *to++ = HISTORY * latent;
    *to++ = HISTORY * latent;
    for (int block = 1; block <= n->rate_count; block++) {
        size_t out = (size_t)padded(block_width(n, block + 1));
        *to++ = (size_t)padded(block_width(n, block));
        for (int unit = 0; unit < RESIDUAL_UNITS; unit++)
            *to++ = HISTORY * (size_t)codec->blocks[block - 1].units[unit].dilation * out;
    }
    *to = HISTORY * (size_t)padded(block_width(n, n->rate_count + 1));
}

static int new_states(Codec *codec, Fault *fault)
{
    const CodecNumbers *n = &codec->numbers;
    codec->transformer_states = 1 + 2 * n->layers + n->ratio_count;
    codec->states = codec->transformer_states + 2 + n->rate_count * (1 + RESIDUAL_UNITS);
    size_t count = (size_t)codec->states;
    codec->state_floats = calloc(count, sizeof *codec->state_floats);
    codec->state = calloc(count, sizeof *codec->state);
    codec->next_state = calloc(count, sizeof *codec->next_state);
    codec->vectors = calloc(FRAMES_A_RUN * (size_t)n->book_width, sizeof(float));
    codec->latents
        = calloc(FRAMES_A_RUN * (size_t)codec->steps * (size_t)n->latent, sizeof(float));
    if (!codec->state_floats || !codec->state || !codec->next_state || !codec->vectors
        || !codec->latents)
        return no_memory(fault);
    measure_states(codec);
    for (size_t at = 0; at < count; at++) {
        codec->state[at] = aligned_new(codec->state_floats[at] * sizeof(float) + 64, 64);
        codec->next_state[at] = aligned_new(codec->state_floats[at] * sizeof(float) + 64, 64);
        if (!codec->state[at] || !codec->next_state[at]) return no_memory(fault);
    }
    codec_begin(codec);
    return 0;
}

void codec_begin(Codec *codec)
{
    codec->position = 0;
    for (int at = 0; at < codec->states; at++)
        memset(codec->state[at], 0, codec->state_floats[at] * sizeof(float));
}

/* --- the decoder ------------------------------------------------------------------------------ */

int codec_read(Codec *codec, const PackedFile *file, ThreadPool *pool, Fault *fault)
{
    int status = read_numbers(codec, file, fault);
    if (status) return status;
    codec->layers = calloc((size_t)codec->numbers.layers, sizeof *codec->layers);
    codec->upsamples = calloc((size_t)codec->numbers.ratio_count, sizeof *codec->upsamples);
    codec->blocks = calloc((size_t)codec->numbers.rate_count, sizeof *codec->blocks);
    if (!codec->layers || !codec->upsamples || !codec->blocks) return no_memory(fault);
    status = read_transformer(codec, file, pool, fault);
    if (!status) status = read_upsampler(codec, file, pool, fault);
    return status ? status : new_states(codec, fault);
}

void codec_free(Codec *codec)
{
    codec_transformer_free(codec->transformer);
    codec_upsampler_free(codec->upsampler);
    for (int at = 0; at < codec->states; at++) {
        if (codec->state) aligned_free(codec->state[at]);
        if (codec->next_state) aligned_free(codec->next_state[at]);
    }
    weights_free(codec->weights[TRANSFORMER]);
    weights_free(codec->weights[UPSAMPLER]);
    free(codec->layers);
    free(codec->upsamples);
    free(codec->blocks);
    free(codec->state_floats);
    free(codec->state);
    free(codec->next_state);
    free(codec->vectors);
    free(codec->latents);
}

/* The code vector of the first group, and behind it the sum of the others. */
static void sum_vectors(const Codec *codec, const int32_t *codes, float *to)
{
    const CodecNumbers *n = &codec->numbers;
    int width = n->book_width / 2;
    for (int group = 0; group < n->groups; group++) {
        size_t row = (size_t)group * (size_t)n->codes + (size_t)codes[group];
        const float *vector = codec->codebooks + row * (size_t)width;
        float *sum = group ? to + width : to;
        for (int at = 0; at < width; at++) sum[at] = group > 1 ? sum[at] + vector[at] : vector[at];
    }
}

static int run(Codec *codec, int frames, int (*stale)(void), float *to)
{
    float **state = codec->state, **next = codec->next_state;
    int split = codec->transformer_states;
    int status = codec_transformer_run(codec->transformer, codec->vectors, frames, codec->position,
        state, next, codec->latents);
    if (!status)
        status = codec_upsampler_run(codec->upsampler, codec->latents, frames, codec->position,
            state + split, next + split, to, stale);
    if (status) return status;
    codec->state = next;
    codec->next_state = state;
    codec->position += frames;
    return 0;
}

int codec_decode(Codec *codec, const int32_t *codes, int frames, int (*stale)(void), float *to,
    Fault *fault)
{
    int groups = codec->numbers.groups, width = codec->numbers.book_width;
    for (int done = 0, some; done < frames; done += some) {
        some = frames - done < FRAMES_A_RUN ? frames - done : FRAMES_A_RUN;
        for (int at = 0; at < some; at++)
            sum_vectors(codec, codes + (ptrdiff_t)(done + at) * groups,
                codec->vectors + (ptrdiff_t)at * width);
        int status = run(codec, some, stale, to + (ptrdiff_t)done * codec->frame_samples);
        if (status == FORKED)
            return fail(
                fault, S2S_QWEN3_FORKED, "the process was forked after the model was opened");
        if (status < 0) return no_memory(fault);
        if (status) return 1;
    }
    return 0;
}
