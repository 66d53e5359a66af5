/* The codec decoder of a packed model: codes to samples, frame-exact, with the state of one stream.
 * Its weights lie in the file as s2s/tts/qwen3/native/codec_transformer.py and codec_upsampler.py
 * pack them. */
#ifndef S2S_CODEC_H
#define S2S_CODEC_H

#include "codec_transformer.h"
#include "codec_upsampler.h"
#include "fault.h"
#include "packed_file.h"
#include "thread_pool.h"

enum { MOST_RATIOS = 4, MOST_RATES = 6, FRAMES_A_RUN = 8 };

/* The numbers of section "codec.shape", in this order. */
typedef struct {
    int32_t groups, codes, book_width, latent, hidden, intermediate, layers, heads, head_dim;
    int32_t window, decoder, ratio_count, ratios[MOST_RATIOS], rate_count, rates[MOST_RATES];
} CodecNumbers;

typedef struct {
    CodecNumbers numbers;
    float *weights[2]; /* of the transformer, of the upsampler */
    const float *codebooks;
    CodecTransformerLayer *layers;
    Upsample *upsamples;
    Block *blocks;
    CodecTransformer *transformer;
    CodecUpsampler *upsampler;
    int frame_samples, steps; /* of a frame: samples, latent steps */
    int transformer_states, states;
    size_t *state_floats;
    float **state, **next_state; /* of the stream: [states] */
    float *vectors, *latents;    /* of FRAMES_A_RUN frames */
    long long position;          /* frames of the stream so far */
} Codec;

/* Reads it. Returns 0 or a fault; what was read is to be freed then as well. */
int codec_read(Codec *codec, const PackedFile *file, ThreadPool *pool, Fault *fault);
void codec_free(Codec *codec);

/* A new stream begins. */
void codec_begin(Codec *codec);

/* The samples of the next frames: float [frames][frame_samples]. codes: [frames][groups], each
 * below `codes`. Returns 0, 1 once `stale`, which is asked within it, or a fault. */
int codec_decode(Codec *codec, const int32_t *codes, int frames, int (*stale)(void), float *to,
    Fault *fault);

#endif
