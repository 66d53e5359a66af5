/* Speaks a text into a WAV file with a packed model, sample by sample as it comes.
 *
 *     cc -I../include speak.c -L. -ls2s_kernels -o speak
 *     ./speak voice.s2s ryan "Hello there." hello.wav [SEED | greedy]
 *
 * A speaker of "-" is none (a model whose voice is made of words). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s2s_qwen3.h"

typedef struct { FILE *file; uint32_t bytes; } Wav;

static void put(uint8_t *to, uint32_t number, int bytes)
{
    for (int at = 0; at < bytes; at++) to[at] = (uint8_t)(number >> 8 * at);
}

/* One channel of 16 bits. Written again when the length is known. */
static int write_header(Wav *wav, uint32_t rate)
{
    uint8_t header[44] = "RIFF....WAVEfmt ";
    put(header + 4, 36 + wav->bytes, 4);
    put(header + 16, 16, 4);
    put(header + 20, 1, 2);
    put(header + 22, 1, 2);
    put(header + 24, rate, 4);
    put(header + 28, 2 * rate, 4);
    put(header + 32, 2, 2);
    put(header + 34, 16, 2);
    memcpy(header + 36, "data", 4);
    put(header + 40, wav->bytes, 4);
    return fseek(wav->file, 0, SEEK_SET) || fwrite(header, 1, 44, wav->file) != 44;
}

/* A chunk of sound; a number other than 0 would end the speech. */
static int hear(void *user, const float *samples, size_t count)
{
    Wav *wav = user;
    int16_t piece[256];
    for (size_t at = 0; at < count; at += 256) {
        size_t some = count - at < 256 ? count - at : 256;
        s2s_qwen3_to_int16(samples + at, some, piece);
        if (fwrite(piece, 2, some, wav->file) != some) return 1;
        wav->bytes += (uint32_t)(2 * some);
    }
    return 0;
}

static int speak(s2s_qwen3 *model, char **words, const char *how)
{
    Wav wav = { fopen(words[3], "wb"), 0 };
    s2s_qwen3_request request;
    s2s_qwen3_listener listener = { sizeof listener, &wav, hear, NULL, NULL };
    uint32_t rate = (uint32_t)s2s_qwen3_sample_rate(model);
    if (!wav.file || write_header(&wav, rate)) {
        perror(words[3]);
        return 1;
    }
    s2s_qwen3_default_request(model, &request, sizeof request);
    request.text = words[2];
    request.speaker = strcmp(words[1], "-") ? words[1] : NULL;
    request.talker.greedy = request.predictor.greedy = !strcmp(how, "greedy");
    request.seed = strtoull(how, NULL, 10);
    int32_t status = s2s_qwen3_speak(model, &request, &listener);
    int bad = status < 0 || write_header(&wav, rate);
    bad = fclose(wav.file) || bad;
    if (status < 0) fprintf(stderr, "%s\n", s2s_qwen3_error(model));
    if (!bad) printf("%.2f s, level %s\n", wav.bytes / 2. / rate, s2s_qwen3_level(model));
    return bad;
}

int main(int count, char **words)
{
    char error[320];
    if (count < 5) {
        fprintf(stderr, "speak MODEL SPEAKER TEXT WAV [SEED | greedy]\n");
        return 2;
    }
    s2s_qwen3 *model = s2s_qwen3_open(words[1], NULL, error, sizeof error);
    if (!model) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    int bad = speak(model, words + 1, count > 5 ? words[5] : "0");
    s2s_qwen3_close(model);
    return bad;
}
