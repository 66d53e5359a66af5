/* For a compiler's checks of threads: a speech is stopped by another thread, whenever that
 * comes, while a third one asks for tokens; and the model is closed after all that.
 *
 *     stopping MODEL SPEAKER */
#include <pthread.h>
#include <stdio.h>

#include "s2s_qwen3.h"

enum { TIMES = 6 };

static void *stop(void *model)
{
    s2s_qwen3_stop(model);
    return NULL;
}

static void *ask(void *model)
{
    int32_t ids[8];
    for (int at = 0; at < 50; at++) s2s_qwen3_tokenize(model, "Two words.", ids, 8);
    return NULL;
}

typedef struct { s2s_qwen3 *model; pthread_t thread; int frames, wanted, started; } Stopping;

static int count_frame(void *user, const int32_t *codes, size_t count)
{
    Stopping *stopping = user;
    (void)codes;
    (void)count;
    if (++stopping->frames == stopping->wanted)
        stopping->started = !pthread_create(&stopping->thread, NULL, stop, stopping->model);
    return 0;
}

static int speak_and_stop(s2s_qwen3 *model, const char *speaker, int wanted)
{
    Stopping stopping = { model, 0, 0, wanted, 0 };
    pthread_t asking;
    s2s_qwen3_request request;
    s2s_qwen3_listener listener = { sizeof listener, &stopping, NULL, count_frame, NULL };
    s2s_qwen3_default_request(model, &request, sizeof request);
    request.text = "Hello there, how are you?";
    request.speaker = speaker;
    request.first_chunk_frames = 1;
    if (pthread_create(&asking, NULL, ask, model)) return 1;
    int32_t status = s2s_qwen3_speak(model, &request, &listener);
    if (stopping.started) pthread_join(stopping.thread, NULL);
    pthread_join(asking, NULL);
    printf("%d after %d frames\n", (int)status, stopping.frames);
    return status < 0 || !stopping.started;
}

int main(int count, char **words)
{
    char error[320] = "stopping MODEL SPEAKER";
    s2s_qwen3 *model = count > 2 ? s2s_qwen3_open(words[1], NULL, error, sizeof error) : NULL;
    if (!model) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    int bad = 0;
    for (int at = 0; !bad && at < TIMES; at++) bad = speak_and_stop(model, words[2], 1 + 2 * at);
    s2s_qwen3_close(model);
    return bad;
}
