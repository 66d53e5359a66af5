#include "code_predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sizes.h"

/* Working memory of one frame. */
struct Frame {
    const Predictor *predictor;
    ThreadPool *pool; /* of the heads; the transformer may go over to another meanwhile */
    const Sampling *sampling;
    const Verification *verification;
    const float *uniforms; /* the next to be used */
    float *inputs;         /* [MAX_ROWS][hidden] */
    float *hidden;         /* [MAX_ROWS][hidden]: outputs of the last forward pass */
    float *last_hidden;    /* [hidden]: what the next code is predicted from */
    float *logits;         /* [MAX_ROWS][codes] */
    float *proposals;      /* [MAX_DRAFT_TOKENS][codes]: what draft tokens are drawn from */
    float *target;         /* [codes]: what a code is drawn from */
    float *scratch;        /* [codes]: for `distribution` */
};

/* --- sampling --------------------------------------------------------------------------------- */

/* The `rank`th largest of `count` values, by quickselect. Reorders the values. */
static float ranked(float *values, int count, int rank)
{
    int low = 0, high = count - 1, index = rank - 1;
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
        if (index <= right)
            high = right;
        else if (index >= left)
            low = left;
        else
            break;
    }
    return values[index];
}

static int descending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left < right) - (left > right);
}

/* The smallest probability that top-p keeps: those larger than it alone do not sum to `share`. */
static float smallest_kept(const float *p, int count, float share, float *sorted)
{
    float sum = 0;
    memcpy(sorted, p, (size_t)count * sizeof(float));
    qsort(sorted, (size_t)count, sizeof(float), descending);
    for (int at = 0; at < count; at++) {
        sum += sorted[at];
        if (sum >= share) return sorted[at];
    }
    return 0;
}

/* In double precision, in which libraries differ by less than is left after rounding. */
static void softmax(float *p, int count, float most)
{
    float sum = 0;
    for (int at = 0; at < count; at++) {
        p[at] = p[at] == -INFINITY ? 0 : (float)exp((double)(p[at] - most));
        sum += p[at];
    }
    for (int at = 0; at < count; at++) p[at] /= sum;
}

void distribution(
    const float *logits, int count, const Sampling *sampling, float *scratch, float *p)
{
    float most = -INFINITY, least = -INFINITY;
    for (int at = 0; at < count; at++) {
        p[at] = logits[at] / sampling->temperature;
        most = p[at] > most ? p[at] : most;
    }
    if (sampling->top_k > 0 && sampling->top_k < count) {
        memcpy(scratch, p, (size_t)count * sizeof(float));
        least = ranked(scratch, count, sampling->top_k);
    }
    for (int at = 0; at < count; at++) p[at] = p[at] < least ? -INFINITY : p[at];
    softmax(p, count, most);
    if (sampling->top_p < 1) {
        float kept = smallest_kept(p, count, sampling->top_p, scratch), sum = 0;
        for (int at = 0; at < count; at++) {
            p[at] = p[at] < kept ? 0 : p[at];
            sum += p[at];
        }
        for (int at = 0; at < count; at++) p[at] /= sum;
    }
}

/* The code at `share` of the cumulative sum; weights need not sum to one. */
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

static int argmax(const float *values, int count)
{
    int found = 0;
    for (int at = 1; at < count; at++)
        if (values[at] > values[found]) found = at;
    return found;
}

/* What a code is chosen from: a distribution, or the bare logits in greedy mode. */
static void find_target(const Frame *frame, const float *logits, float *target)
{
    int codes = frame->predictor->codes;
    if (frame->sampling->greedy)
        memcpy(target, logits, (size_t)codes * sizeof(float));
    else
        distribution(logits, codes, frame->sampling, frame->scratch, target);
}

static int choose(Frame *frame, const float *target)
{
    int codes = frame->predictor->codes;
    return frame->sampling->greedy ? argmax(target, codes)
                                   : draw(target, codes, *frame->uniforms++);
}

int accept_or_resample(
    Frame *frame, void *context, int draft, const float *proposal, float *target)
{
    int codes = frame->predictor->codes;
    (void)context;
    if (frame->sampling->greedy) return argmax(target, codes);
    if (*frame->uniforms++ * proposal[draft] < target[draft]) return draft;
    float sum = 0;
    for (int at = 0; at < codes; at++) {
        target[at] = target[at] > proposal[at] ? target[at] - proposal[at] : 0;
        sum += target[at];
    }
    return sum > 0 ? draw(target, codes, *frame->uniforms++) : draft; /* zero by rounding alone */
}

/* --- the frame -------------------------------------------------------------------------------- */

static void read_vector(const Predictor *predictor, int group, int code, float *to)
{
    read_row(predictor->vector_type, predictor->vectors[group], code, predictor->hidden, to);
}

/* Heads from `group` on: of one vector, or each of its own vector with `row_each`. */
static int predict(Frame *frame, int group, int count, const float *vectors, int row_each)
{
    const Predictor *predictor = frame->predictor;
    return matrix_products(
        frame->pool, predictor->heads + group, count, vectors, row_each, frame->logits);
}

/* One forward pass after `known` codes are chosen, with `drafted` draft tokens. Returns how many
 * more codes are chosen then, in `chosen`; -1: no memory. */
static int verify_drafts(Frame *frame, KvCache *cache, int known, int drafted, int *chosen)
{
    const Predictor *predictor = frame->predictor;
    const Verification *verification = frame->verification;
    size_t codes = (size_t)predictor->codes, hidden = (size_t)predictor->hidden;
    int drafts[MAX_DRAFT_TOKENS], last = known + drafted == predictor->groups;
    int rows = 1 + drafted - (last && drafted ? 1 : 0);
    if (predict(frame, known, drafted, frame->last_hidden, 0)) return -1;
    for (int at = 0; at < drafted; at++) {
        float *proposals = frame->proposals + (size_t)at * codes;
        find_target(frame, frame->logits + (size_t)at * codes, proposals);
        drafts[at] = choose(frame, proposals);
    }
    read_vector(predictor, known, chosen[known - 1], frame->inputs);
    for (int at = 1; at < rows; at++)
        read_vector(predictor, known + at, drafts[at - 1], frame->inputs + (size_t)at * hidden);
    int before = cache_length(cache);
    if (transformer_forward(predictor->transformer, cache, frame->inputs, rows, frame->hidden))
        return -1;
    int heads = known + rows > predictor->groups ? predictor->groups - known : rows;
    if (predict(frame, known, heads, frame->hidden, 1)) return -1;
    for (int at = 0; at < drafted; at++) {
        find_target(frame, frame->logits + (size_t)at * codes, frame->target);
        chosen[known + at] = verification->verify(frame, verification->context, drafts[at],
            frame->proposals + (size_t)at * codes, frame->target);
        memcpy(frame->last_hidden, frame->hidden + (size_t)at * hidden, hidden * sizeof(float));
        if (chosen[known + at] != drafts[at]) {
            cache_rewind(cache, before + at + 1);
            return at + 1;
        }
    }
    if (last && drafted) return drafted;
    find_target(frame, frame->logits + (size_t)drafted * codes, frame->target);
    chosen[known + drafted] = choose(frame, frame->target);
    memcpy(frame->last_hidden, frame->hidden + (size_t)drafted * hidden, hidden * sizeof(float));
    return drafted + 1;
}

static int choose_all(
    Frame *frame, KvCache *cache, const float *first, int draft_tokens, int *chosen)
{
    const Predictor *predictor = frame->predictor;
    int known = 1, passes = 1, groups = predictor->groups;
    cache_rewind(cache, 0);
    if (transformer_forward(predictor->transformer, cache, first, 2, frame->hidden)) return -1;
    memcpy(frame->last_hidden, frame->hidden + predictor->hidden,
        (size_t)predictor->hidden * sizeof(float));
    if (predict(frame, 0, 1, frame->last_hidden, 0)) return -1;
    find_target(frame, frame->logits, frame->target);
    chosen[0] = choose(frame, frame->target);
    for (; known < groups; passes++) {
        int drafted = draft_tokens < groups - known ? draft_tokens : groups - known;
        int more = verify_drafts(frame, cache, known, drafted, chosen);
        if (more < 0) return -1;
        known += more;
    }
    return passes;
}

int frame_uniforms(int groups, int draft_tokens)
{
    /* A pass chooses one code at least: two numbers for each draft token, to draw and to verify it,
     * and one for the code that replaces or follows them. */
    return groups * (2 * draft_tokens + 1);
}

int choose_frame(const Predictor *predictor, KvCache *cache, const float *first, int draft_tokens,
    const Sampling *sampling, const float *uniforms, int *chosen)
{
    static const Verification exact = { accept_or_resample, NULL };
    return choose_frame_verified(
        predictor, cache, first, draft_tokens, sampling, uniforms, &exact, chosen);
}

int choose_frame_verified(const Predictor *predictor, KvCache *cache, const float *first,
    int draft_tokens, const Sampling *sampling, const float *uniforms,
    const Verification *verification, int *chosen)
{
    size_t hidden = size_of_count(predictor->hidden), codes = size_of_count(predictor->codes);
    size_t floats = plus(times(hidden, 2 * MAX_ROWS + 1),
        times(codes, MAX_ROWS + MAX_DRAFT_TOKENS + 2));
    if (draft_tokens < 0 || draft_tokens > MAX_DRAFT_TOKENS) return -1;
    float *memory = malloc(times(floats, sizeof *memory));
    if (!memory) return -1;
    ThreadPool *pool = transformer_take_pool(predictor->transformer);
    if (!pool) {
        free(memory);
        return FORKED;
    }
    Frame frame = { .predictor = predictor,
        .pool = pool,
        .sampling = sampling,
        .verification = verification,
        .uniforms = uniforms };
    frame.inputs = memory;
    frame.hidden = frame.inputs + MAX_ROWS * hidden;
    frame.last_hidden = frame.hidden + MAX_ROWS * hidden;
    frame.logits = frame.last_hidden + hidden;
    frame.proposals = frame.logits + MAX_ROWS * codes;
    frame.target = frame.proposals + MAX_DRAFT_TOKENS * codes;
    frame.scratch = frame.target + codes;
    int passes = choose_all(&frame, cache, first, draft_tokens, chosen);
    pool_free(pool);
    free(memory);
    return passes;
}
