/* For a compiler's checks of memory: a file, whatever it is, is opened, and speaks a few frames where
 * it can be.
 *
 *     opening MODEL SPEAKER TEXT FRAMES
 *
 * A speaker of "-" is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s2s_qwen3.h"

static int hear(void *user, const float *samples, size_t count)
{
    int16_t last;
    s2s_qwen3_to_int16(samples + count - 1, 1, &last);
    *(size_t *)user += count;
    return 0;
}

static int speak(s2s_qwen3 *model, char **words, int greedy)
{
    size_t heard = 0;
    s2s_qwen3_request request;
    s2s_qwen3_listener listener = { sizeof listener, &heard, hear, NULL, NULL };
    s2s_qwen3_default_request(model, &request, sizeof request);
    request.speaker = strcmp(words[0], "-") ? words[0] : NULL;
    request.text = words[1];
    request.instruction = "Whispering.";
    request.talker.greedy = request.predictor.greedy = greedy;
    request.talker.top_p = 0.9;
    request.streaming = greedy;
    request.max_new_tokens = 1 + atoi(words[2]);
    int32_t status = s2s_qwen3_speak(model, &request, &listener);
    printf("%d: %zu samples %s\n", (int)status, heard, s2s_qwen3_error(model));
    return status < 0;
}

int main(int count, char **words)
{
    char error[320] = "opening MODEL SPEAKER TEXT FRAMES";
    s2s_qwen3 *model = count > 4 ? s2s_qwen3_open(words[1], NULL, error, sizeof error) : NULL;
    if (!model) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    int bad = speak(model, words + 2, 1) | speak(model, words + 2, 0);
    s2s_qwen3_close(model);
    return bad;
}
