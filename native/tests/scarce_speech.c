/* Memory runs out at each allocation in turn, while a model is opened, speaks and is closed: that is
 * said, and everything is freed. Built with driver/scarce.h in front of everything.
 *
 *     scarce_speech MODEL SPEAKER */
#include <stdio.h>
#include <string.h>

#include "s2s_qwen3.h"
#include "scarce.h"

/* MOST: allocations that there can be. */
enum { MOST = 5000 };

static int speak(s2s_qwen3 *model, const char *speaker)
{
    s2s_qwen3_request request;
    s2s_qwen3_listener listener = { sizeof listener, NULL, NULL, NULL, NULL };
    s2s_qwen3_default_request(model, &request, sizeof request);
    request.text = "Hi.";
    request.speaker = speaker;
    request.max_new_tokens = 3;
    int32_t status = s2s_qwen3_speak(model, &request, &listener);
    if (status != S2S_QWEN3_NO_MEMORY) return status < 0;
    return !strstr(s2s_qwen3_error(model), "memory");
}

/* All of it, with so many allocations granted. Returns 0, or 1 for what is wrong. */
static int once(const char *path, const char *speaker, int left, int *refused)
{
    char error[320] = "";
    int pieces = scarce_pieces(), bad;
    scarce(left);
    s2s_qwen3 *model = s2s_qwen3_open(path, NULL, error, sizeof error);
    bad = model ? speak(model, speaker) : !strstr(error, "memory") && !strstr(error, "threads");
    s2s_qwen3_close(model);
    *refused = scarce_refused();
    scarce(PLENTY);
    if (bad || scarce_pieces() != pieces) {
        printf("%d allocations: %s, %d pieces are left\n", left, error, scarce_pieces() - pieces);
        return 1;
    }
    return 0;
}

int main(int count, char **words)
{
    int refused = 1, left = 0;
    if (count < 3) return 2;
    for (; refused && left < MOST; left++)
        if (once(words[1], words[2], left, &refused)) return 1;
    printf("%d allocations\n", left - 1);
    return refused;
}
