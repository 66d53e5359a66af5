/* The layers of a Qwen3 transformer on quantised matrices: embeddings in, hidden vectors out.
 *
 * Architecture: Qwen3 of transformers (grouped-query attention with normed queries and keys, rotary
 * positions by halves, SwiGLU), as the talker and the code predictor of qwen-tts 0.1.1 use it. */
#ifndef S2S_TRANSFORMER_H
#define S2S_TRANSFORMER_H

#include "level.h"
#include "matrix.h"
#include "thread_pool.h"

typedef struct {
    int hidden, intermediate, layers, heads, kv_heads, head_dim;
    float epsilon, theta;
} Shape;

/* One layer's weights; norms are float [hidden] or [head_dim]. They belong
 * to the caller. */
typedef struct {
    const Matrix *query, *key, *value, *out, *gate, *up, *down;
    const float *attention_norm, *query_norm, *key_norm, *mlp_norm;
} Layer;

typedef struct Transformer Transformer;
typedef struct KvCache KvCache;

/* head_dim: a multiple of 64; hidden, intermediate and heads * head_dim: of 32. `layers`
 * [shape->layers] are copied, the matrices must outlive it. NULL: no memory, or not such a shape. */
S2S_API Transformer *transformer_new(
    const Shape *shape, const Layer *layers, const float *norm, ThreadPool *pool);
S2S_API void transformer_free(Transformer *transformer);

/* Another thread pool computes from the next forward pass on. The old one is
 * freed, as the transformer took it. */
S2S_API void transformer_use(Transformer *transformer, ThreadPool *pool);

/* Keys and values of at most `capacity` positions. NULL: no memory. */
S2S_API KvCache *cache_new(const Transformer *transformer, int capacity);
S2S_API void cache_free(KvCache *cache);
S2S_API int cache_length(const KvCache *cache);
/* Drops all but the first `length` positions; none where there are fewer. */
S2S_API void cache_rewind(KvCache *cache, int length);

/* Appends `count` positions: in and out float [count][hidden], out after the final norm. Returns 0,
 * -1 when they exceed the capacity of the cache, -2 when there is no memory, FORKED in another
 * process than the one that made the transformer; the cache has not changed then. */
S2S_API int transformer_forward(
    Transformer *transformer, KvCache *cache, const float *in, int count, float *out);

/* matrix times x: float [columns] to float [rows]. Returns 0, -1 when there is no memory, or
 * FORKED. */
S2S_API int matrix_product(ThreadPool *pool, const Matrix *matrix, const float *x, float *y);

/* At most MAX_ROWS matrices of one shape, each times x float [columns], or, with `row_each`, times
 * its own row of x [count][columns]: y float [count][rows]. Returns as matrix_product. */
int matrix_products(
    ThreadPool *pool, const Matrix *const *matrices, int count, const float *x, int row_each,
    float *y);

/* The pool that computes now; it has to be freed. NULL in another process than the one that made
 * the transformer. */
ThreadPool *transformer_take_pool(Transformer *transformer);

/* The vector unit that this library was compiled for. */
S2S_API const char *instructions(void);

#endif
