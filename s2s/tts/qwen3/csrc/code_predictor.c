#include "code_predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The memory of one frame in the making. */
typedef struct {
    const Predictor *predictor;
    const Sampling *sampling;
    const float *uniforms; /* the next to be used */
    float *inputs;         /* [MAX_ROWS][hidden] */
    float *hidden;         /* [MAX_ROWS][hidden]: results of the last pass */
    float *held;           /* [hidden]: what the next code is predicted from */
    float *logits;         /* [MAX_ROWS][codes] */
    float *expected;       /* [MAX_GUESSES][codes]: what guesses are drawn from */
    float *wanted;         /* [codes] */
} Frame;

/* --- choosing --------------------------------------------------------------------------------- */

/* The value that `rank` of `count` values are larger than or as large as. Reorders the values. */
static float ranked(float *values, int count, int rank)
{
    int low = 0, high = count - 1, wanted = rank - 1;
    while (low < high) {
        float pivot = values[(low + high) / 2];
        int left = low, right = high;
        while (left <= right) {
            while (values[left] > pivot) left++;
            while (values[right] < pivot) right--;
            if (left > right) break;
            float swapped = values[left];
            values[left++] = values[right];
            values[right--] = swapped;
        }
        if (wanted <= right)
            high = right;
        else if (wanted >= left)
            low = left;
        else
            break;
    }
    return values[wanted];
}

static int descending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left < right) - (left > right);
}

/* The smallest probability that top-p keeps: those above it alone do not reach the share. */
static float smallest_kept(const float *p, int count, float share)
{
    float sorted[count], sum = 0;
    memcpy(sorted, p, (size_t)count * sizeof(float));
    qsort(sorted, (size_t)count, sizeof(float), descending);
    for (int at = 0; at < count; at++) {
        sum += sorted[at];
        if (sum >= share) return sorted[at];
    }
    return 0;
}

static void soften(float *p, int count, float most)
{
    float sum = 0;
    for (int at = 0; at < count; at++) {
        p[at] = p[at] == -INFINITY ? 0 : expf(p[at] - most);
        sum += p[at];
    }
    for (int at = 0; at < count; at++) p[at] /= sum;
}

void distribution(const float *logits, int count, const Sampling *sampling, float *p)
{
    float most = -INFINITY, least = -INFINITY;
    for (int at = 0; at < count; at++) {
        p[at] = logits[at] / sampling->temperature;
        most = p[at] > most ? p[at] : most;
    }
    if (sampling->top_k > 0 && sampling->top_k < count) {
        float values[count];
        memcpy(values, p, (size_t)count * sizeof(float));
        least = ranked(values, count, sampling->top_k);
    }
    for (int at = 0; at < count; at++) p[at] = p[at] < least ? -INFINITY : p[at];
    soften(p, count, most);
    if (sampling->top_p < 1) {
        float kept = smallest_kept(p, count, sampling->top_p), sum = 0;
        for (int at = 0; at < count; at++) {
            p[at] = p[at] < kept ? 0 : p[at];
            sum += p[at];
        }
        for (int at = 0; at < count; at++) p[at] /= sum;
    }
}

/* The code at a share of the whole; weights need not sum to one. */
static int draw(const float *weights, int count, float share)
{
    float sum = 0, until = 0;
    int last = 0;
    for (int at = 0; at < count; at++) sum += weights[at];
    for (int at = 0; at < count; at++) {
        if (weights[at] <= 0) continue;
        last = at;
        until += weights[at];
        if (until > share * sum) break;
    }
    return last;
}

static int largest(const float *values, int count)
{
    int found = 0;
    for (int at = 1; at < count; at++)
        if (values[at] > values[found]) found = at;
    return found;
}

/* What a code is chosen from: the bare logits in greedy mode. */
static void wish(const Frame *frame, const float *logits, float *wanted)
{
    int codes = frame->predictor->codes;
    if (frame->sampling->greedy)
        memcpy(wanted, logits, (size_t)codes * sizeof(float));
    else
        distribution(logits, codes, frame->sampling, wanted);
}

static int pick(Frame *frame, const float *wanted)
{
    int codes = frame->predictor->codes;
    return frame->sampling->greedy ? largest(wanted, codes) : draw(wanted, codes, *frame->uniforms++);
}

/* The guess, or what replaces it: as a draw from `wanted` when the guess is one from `expected`. */
static int deserved(Frame *frame, int guess, const float *expected, float *wanted)
{
    int codes = frame->predictor->codes;
    if (frame->sampling->greedy) return largest(wanted, codes);
    if (*frame->uniforms++ * expected[guess] < wanted[guess]) return guess;
    float sum = 0;
    for (int at = 0; at < codes; at++) {
        wanted[at] = wanted[at] > expected[at] ? wanted[at] - expected[at] : 0;
        sum += wanted[at];
    }
    return sum > 0 ? draw(wanted, codes, *frame->uniforms++) : guess; /* zero by rounding alone */
}

static int settle(Frame *frame, int guess, const float *expected, float *wanted)
{
    int settled = deserved(frame, guess, expected, wanted);
    if (frame->sampling->acceptance < 0) return settled;
    if (*frame->uniforms++ < frame->sampling->acceptance) return guess;
    return settled != guess ? settled : (guess + 1) % frame->predictor->codes;
}

/* --- the frame -------------------------------------------------------------------------------- */

static void read_vector(const Predictor *predictor, int group, int code, float *to)
{
    read_row(predictor->vector_type, predictor->vectors[group], code, predictor->hidden, to);
}

/* Heads from `group` on: of one vector, or each of its own when `apart`. */
static void predict(Frame *frame, int group, int count, const float *vectors, int apart)
{
    const Predictor *predictor = frame->predictor;
    matrix_products(decoder_team(predictor->decoder), predictor->heads + group, count, vectors,
        apart, frame->logits);
}

/* One pass after `known` codes are settled: `guessed` of them are tried. Returns how many more are
 * settled then, in `chosen`; -1: no memory. */
static int try_guesses(Frame *frame, Cache *cache, int known, int guessed, int *chosen)
{
    const Predictor *predictor = frame->predictor;
    size_t codes = (size_t)predictor->codes, hidden = (size_t)predictor->hidden;
    int guesses[MAX_GUESSES], last = known + guessed == predictor->groups;
    int rows = 1 + guessed - (last && guessed ? 1 : 0);
    predict(frame, known, guessed, frame->held, 0);
    for (int at = 0; at < guessed; at++) {
        float *expected = frame->expected + (size_t)at * codes;
        wish(frame, frame->logits + (size_t)at * codes, expected);
        guesses[at] = pick(frame, expected);
    }
    read_vector(predictor, known, chosen[known - 1], frame->inputs);
    for (int at = 1; at < rows; at++)
        read_vector(predictor, known + at, guesses[at - 1], frame->inputs + (size_t)at * hidden);
    int before = cache_length(cache);
    if (decoder_forward(predictor->decoder, cache, frame->inputs, rows, frame->hidden)) return -1;
    int heads = known + rows > predictor->groups ? predictor->groups - known : rows;
    predict(frame, known, heads, frame->hidden, 1);
    for (int at = 0; at < guessed; at++) {
        wish(frame, frame->logits + (size_t)at * codes, frame->wanted);
        chosen[known + at]
            = settle(frame, guesses[at], frame->expected + (size_t)at * codes, frame->wanted);
        memcpy(frame->held, frame->hidden + (size_t)at * hidden, hidden * sizeof(float));
        if (chosen[known + at] != guesses[at]) {
            cache_rewind(cache, before + at + 1);
            return at + 1;
        }
    }
    if (last && guessed) return guessed;
    wish(frame, frame->logits + (size_t)guessed * codes, frame->wanted);
    chosen[known + guessed] = pick(frame, frame->wanted);
    memcpy(frame->held, frame->hidden + (size_t)guessed * hidden, hidden * sizeof(float));
    return guessed + 1;
}

static int choose_all(
    Frame *frame, Cache *cache, const float *first, int guesses, int *chosen)
{
    const Predictor *predictor = frame->predictor;
    int known = 1, passes = 1, groups = predictor->groups;
    cache_rewind(cache, 0);
    if (decoder_forward(predictor->decoder, cache, first, 2, frame->hidden)) return -1;
    memcpy(frame->held, frame->hidden + predictor->hidden,
        (size_t)predictor->hidden * sizeof(float));
    predict(frame, 0, 1, frame->held, 0);
    wish(frame, frame->logits, frame->wanted);
    chosen[0] = pick(frame, frame->wanted);
    for (; known < groups; passes++) {
        int guessed = guesses < groups - known ? guesses : groups - known;
        int settled = try_guesses(frame, cache, known, guessed, chosen);
        if (settled < 0) return -1;
        known += settled;
    }
    return passes;
}

int frame_uniforms(int groups, int guesses)
{
    /* a pass settles one code at least: for each guess the draw, the verdict and the lot, and a
     * choice */
    return groups * (3 * guesses + 1);
}

int choose_frame(const Predictor *predictor, Cache *cache, const float *first, int guesses,
    const Sampling *sampling, const float *uniforms, int *chosen)
{
    size_t hidden = (size_t)predictor->hidden, codes = (size_t)predictor->codes;
    size_t floats = hidden * (2 * MAX_ROWS + 1) + codes * (MAX_ROWS + MAX_GUESSES + 1);
    float *memory = malloc(floats * sizeof(float));
    if (!memory) return -1;
    Frame frame = { .predictor = predictor, .sampling = sampling, .uniforms = uniforms };
    frame.inputs = memory;
    frame.hidden = frame.inputs + MAX_ROWS * hidden;
    frame.held = frame.hidden + MAX_ROWS * hidden;
    frame.logits = frame.held + hidden;
    frame.expected = frame.logits + MAX_ROWS * codes;
    frame.wanted = frame.expected + MAX_GUESSES * codes;
    int passes = choose_all(&frame, cache, first, guesses, chosen);
    free(memory);
    return passes;
}
