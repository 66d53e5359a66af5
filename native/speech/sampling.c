#include "sampling.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int first_codes_new(FirstCodes *first, int codes, int eos, int vocabulary)
{
    size_t count = (size_t)codes + 1;
    *first = (FirstCodes) { .codes = codes, .eos = eos, .vocabulary = vocabulary };
    first->seen = calloc(count, 1);
    first->scores = malloc(count * sizeof *first->scores);
    first->scratch = malloc(count * sizeof *first->scratch);
    first->noise = malloc((size_t)vocabulary * sizeof *first->noise);
    first->order = malloc(count * sizeof *first->order);
    if (first->seen && first->scores && first->scratch && first->noise && first->order) return 0;
    return -1;
}

void first_codes_free(FirstCodes *first)
{
    free(first->seen);
    free(first->scores);
    free(first->scratch);
    free(first->noise);
    free(first->order);
}

void first_codes_begin(FirstCodes *first)
{
    first->count = 0;
    memset(first->seen, 0, (size_t)first->codes + 1);
}

static void process(FirstCodes *first, const float *logits)
{
    float penalty = first->repetition_penalty;
    for (int at = 0; at <= first->codes; at++) {
        float score = logits[at];
        if (first->seen[at]) score = score < 0 ? score * penalty : score / penalty;
        first->scores[at] = score;
    }
    if (first->count < first->min_new_tokens) first->scores[first->codes] = -INFINITY;
}

static int descending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left < right) - (left > right);
}

static float largest(const float *values, int count)
{
    float most = -INFINITY;
    for (int at = 0; at < count; at++) most = values[at] > most ? values[at] : most;
    return most;
}

/* Drops what is smaller than the `top_k`th largest score. */
static void keep_top_k(FirstCodes *first)
{
    int count = first->codes + 1;
    if (first->how.top_k <= 0 || first->how.top_k >= count) return;
    memcpy(first->scratch, first->scores, (size_t)count * sizeof(float));
    qsort(first->scratch, (size_t)count, sizeof(float), descending);
    float least = first->scratch[first->how.top_k - 1];
    for (int at = 0; at < count; at++)
        if (first->scores[at] < least) first->scores[at] = -INFINITY;
}

static void softmax(const float *scores, int count, float *p)
{
    float most = largest(scores, count), sum = 0;
    for (int at = 0; at < count; at++) {
        p[at] = scores[at] == -INFINITY ? 0 : expf(scores[at] - most);
        sum += p[at];
    }
    for (int at = 0; at < count; at++) p[at] /= sum;
}

/* Merges sorted halves: equal scores stay in the order of their codes. */
static void sort_ascending(const float *scores, int32_t *order, int32_t *scratch, int count)
{
    if (count < 2) return;
    int half = count / 2, left = 0, right = half;
    sort_ascending(scores, order, scratch, half);
    sort_ascending(scores, order + half, scratch, count - half);
    for (int to = 0; to < count; to++) {
        int from_left = right >= count
                        || (left < half && scores[order[left]] <= scores[order[right]]);
        scratch[to] = from_left ? order[left++] : order[right++];
    }
    memcpy(order, scratch, (size_t)count * sizeof *order);
}

/* Drops the unlikeliest that together are no likelier than 1 - top_p. */
static void keep_top_p(FirstCodes *first)
{
    int count = first->codes + 1;
    float drop = (float)(1 - first->how.top_p), sum = 0;
    if (first->how.top_p >= 1) return;
    for (int at = 0; at < count; at++) first->order[at] = at;
    /* `noise` is larger, and not in use yet */
    sort_ascending(first->scores, first->order, (int32_t *)(void *)first->noise, count);
    softmax(first->scores, count, first->scratch);
    for (int at = 0; at + 1 < count; at++) {
        sum += first->scratch[first->order[at]];
        if (sum <= drop) first->scores[first->order[at]] = -INFINITY;
    }
}

/* The id with the largest probability divided by its exponential number. */
static int draw(FirstCodes *first)
{
    int found = 0;
    float most = -1;
    softmax(first->scores, first->codes + 1, first->scratch);
    random_exponentials(&first->random, first->noise, first->vocabulary);
    for (int at = 0; at <= first->codes; at++) {
        float noise = first->noise[at < first->codes ? at : first->eos];
        float weight = first->scratch[at] / (noise > FLT_MIN ? noise : FLT_MIN);
        if (weight > most) {
            most = weight;
            found = at;
        }
    }
    return found;
}

static int likeliest(const FirstCodes *first)
{
    int found = 0;
    for (int at = 1; at <= first->codes; at++)
        if (first->scores[at] > first->scores[found]) found = at;
    return found;
}

int first_codes_choose(FirstCodes *first, const float *logits)
{
    int chosen;
    process(first, logits);
    if (first->how.greedy) {
        chosen = likeliest(first);
    } else {
        for (int at = 0; at <= first->codes; at++)
            first->scores[at] /= (float)first->how.temperature;
        keep_top_k(first);
        keep_top_p(first);
        chosen = draw(first);
    }
    first->seen[chosen] = 1;
    first->count++;
    return chosen;
}
