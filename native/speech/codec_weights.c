#include "codec_weights.h"

#include "codec_transposed.h"

enum { INPUT_TAPS = 3, CONVOLUTION = 7, BATCHED_LESS = 2 };

static const int dilations[RESIDUAL_UNITS] = { 1, 3, 9 };

int padded(int width)
{
    return (width + CODEC_PAD - 1) / CODEC_PAD * CODEC_PAD;
}

/* Channels that go into a block, numbered from 1; into what follows for one more. */
int block_width(const CodecNumbers *numbers, int block)
{
    return numbers->decoder >> (block - 1);
}

static const float *take(Cursor *cursor, uint64_t count)
{
    const float *taken = cursor->weights ? cursor->weights + cursor->used : NULL;
    cursor->used += (count + CODEC_PAD - 1) / CODEC_PAD * CODEC_PAD;
    return taken;
}

static PackedWeights pack(Cursor *cursor, int taps, int in, int out)
{
    PackedWeights packed = { taps, padded(in), padded(out), NULL, NULL };
    uint64_t panels = ((uint64_t)packed.out + PANEL - 1) / PANEL;
    packed.panels = take(cursor, panels * (uint64_t)taps * (uint64_t)packed.in * PANEL);
    packed.bias = take(cursor, (uint64_t)packed.out);
    return packed;
}

static Snake snake_of(Cursor *cursor, int width)
{
    Snake snake;
    snake.frequency = take(cursor, (uint64_t)padded(width));
    snake.scale = take(cursor, (uint64_t)padded(width));
    return snake;
}

void lay_transformer(Codec *codec, Cursor *cursor, CodecTransformerShape *shape)
{
    const CodecNumbers *n = &codec->numbers;
    int heads = n->heads * n->head_dim;
    codec->codebooks
        = take(cursor, (uint64_t)n->groups * (uint64_t)n->codes * (uint64_t)(n->book_width / 2));
    for (int at = 0; at < n->layers; at++) {
        CodecTransformerLayer *layer = codec->layers + at;
        layer->query_key_value = pack(cursor, 1, n->hidden, 3 * heads);
        layer->out = pack(cursor, 1, heads, n->hidden);
        layer->gate_up = pack(cursor, 1, n->hidden, 2 * n->intermediate);
        layer->down = pack(cursor, 1, n->intermediate, n->hidden);
    }
    for (int at = 0; at < n->ratio_count; at++) {
        Upsample *upsample = codec->upsamples + at;
        upsample->transposed
            = pack(cursor, 1, at ? n->latent : n->hidden, n->ratios[at] * n->latent);
        upsample->depthwise = take(cursor, CONVOLUTION * (uint64_t)n->latent);
        upsample->depthwise_bias = take(cursor, (uint64_t)n->latent);
        upsample->up = pack(cursor, 1, n->latent, 4 * n->latent);
        upsample->down = pack(cursor, 1, 4 * n->latent, n->latent);
    }
    *shape = (CodecTransformerShape) { .layers = n->layers, .heads = n->heads,
        .head_dim = n->head_dim, .window = n->window, .upsamples = n->ratio_count,
        .frames = FRAMES_A_RUN, .layer = codec->layers, .upsample = codec->upsamples };
    shape->frequencies = take(cursor, (uint64_t)n->head_dim / 2);
    shape->input = pack(cursor, INPUT_TAPS, n->book_width, n->hidden);
}

/* steps: of a frame at its input. */
static void lay_block(const CodecNumbers *n, int at, int steps, Cursor *cursor, Block *block)
{
    int into = block_width(n, at + 1), out = block_width(n, at + 2), rate = n->rates[at];
    block->stride = rate;
    block->snake_in = snake_of(cursor, into);
    block->transposed = pack(cursor, transposed_matrices(at, steps), into, rate * padded(out));
    for (int each = 0; each < RESIDUAL_UNITS; each++) {
        ResidualUnit *unit = block->units + each;
        unit->dilation = dilations[each];
        unit->snake_in = snake_of(cursor, out);
        unit->winograd = pack(cursor, WINOGRAD_MATRICES, out, out);
        unit->snake_middle = snake_of(cursor, out);
        unit->pointwise = pack(cursor, 1, out, out);
    }
}

void lay_upsampler(Codec *codec, Cursor *cursor, CodecUpsamplerShape *shape)
{
    const CodecNumbers *n = &codec->numbers;
    int count = n->rate_count, last = block_width(n, count + 1);
    int steps = codec->steps;
    for (int at = 0; at < count; at++) {
        lay_block(n, at, steps, cursor, codec->blocks + at);
        steps *= n->rates[at];
    }
    *shape = (CodecUpsamplerShape) { .steps = codec->steps, .blocks = count,
        .batched_blocks = count > BATCHED_LESS ? count - BATCHED_LESS : 1,
        .frames = FRAMES_A_RUN, .block = codec->blocks };
    shape->input = pack(cursor, CONVOLUTION, n->latent, n->decoder);
    shape->snake_out = snake_of(cursor, last);
    shape->output = take(cursor, CONVOLUTION * (uint64_t)padded(last));
    shape->output_bias = take(cursor, 1);
}
