/* A stack of Qwen3 decoder layers on quantised matrices: vectors in, vectors out.
 *
 * Architecture: Qwen3 of transformers (grouped-query attention with normed queries and keys, rotary
 * positions by halves, SwiGLU), as the talker and the code predictor of qwen-tts 0.1.1 use it. */
#ifndef S2S_DECODER_H
#define S2S_DECODER_H

#include "matrix.h"
#include "thread_pool.h"

typedef struct {
    int hidden, intermediate, layers, heads, kv_heads, head_dim;
    float epsilon, theta;
} Shape;

/* One layer's weights; norms are float [hidden] or [head_dim]. The decoder owns none of them. */
typedef struct {
    const Matrix *query, *key, *value, *out, *gate, *up, *down;
    const float *attention_norm, *query_norm, *key_norm, *mlp_norm;
} Layer;

typedef struct Decoder Decoder;
typedef struct Cache Cache;

/* head_dim: a multiple of 64. `layers` [shape->layers] are copied, the matrices stay where they are. NULL: no memory. */
Decoder *decoder_new(const Shape *shape, const Layer *layers, const float *norm, Team *team);
void decoder_free(Decoder *decoder);

/* Another team computes from the next forward on. The old one may be freed then. */
void decoder_use(Decoder *decoder, Team *team);

/* Keys and values of `room` positions. */
Cache *cache_new(const Decoder *decoder, int room);
void cache_free(Cache *cache);
int cache_length(const Cache *cache);
/* Forgets all but the first `length` positions. */
void cache_rewind(Cache *cache, int length);

/* Appends `count` positions: in and out float [count][hidden], out after the final norm. Returns 0,
 * or -1 when the cache has no room for them; it has not changed then. */
int decoder_forward(Decoder *decoder, Cache *cache, const float *in, int count, float *out);

/* matrix times x: float [columns] to float [rows]. */
void matrix_product(Team *team, const Matrix *matrix, const float *x, float *y);

/* At most MAX_ROWS matrices of one shape, each times x float [columns], or, when `apart`, times its
 * own row of x [count][columns]: y float [count][rows]. */
void matrix_products(
    Team *team, const Matrix *const *matrices, int count, const float *x, int apart, float *y);

Team *decoder_team(const Decoder *decoder);

/* The vector unit that this library was compiled for. */
const char *instructions(void);

#endif
