/* Quantised matrices, and their products with a few rows of floats. */
#ifndef S2S_MATRIX_H
#define S2S_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "level.h"

enum { MAX_ROWS = 8 }; /* rows that a product takes at once, its sums in registers */

/* A weight w of a row's block of 32 is u * scale - offset, u an unsigned integer of `bits` bits.
 * Of 4 bits the offset is stored; of 8 bits it is 128 * scale. Sixteen rows lie interleaved, four
 * columns at a time, so that one vector holds one column group of all of them: one stream. */
typedef struct {
    int rows, columns, bits;
    size_t block_bytes, tile_bytes;
    uint8_t *data;
} Matrix;

/* Rows of floats quantised to signed bytes: per block of 32 a scale, the sum of its bytes, and that
 * sum times the scale, negative: what an offset of weights is multiplied with. */
typedef struct {
    int8_t *bytes;
    float *scales;
    int32_t *sums;
    float *offsets;
    int columns;
} Quantised;

/* Block types of GGUF tensors that `matrix_fill` reads, by their numbers in ggml. */
enum { F32 = 0, F16 = 1, Q8_0 = 8, Q4_K = 12, Q5_K = 13, Q6_K = 14, BF16 = 30 };

/* Bytes of a matrix's weights; 0 for a matrix that there cannot be. columns: a multiple of 32; bits: 4
 * or 8. */
S2S_API size_t matrix_bytes(int rows, int columns, int bits);

/* Memory for weights, `zeroed` or to be filled: in large pages where the system has them, which
 * doubles the speed at which they are read. Matrices lie in it one behind the other. NULL when
 * there is none. */
S2S_API void *weights_new(size_t bytes, int zeroed);
S2S_API void weights_free(void *weights);

/* An empty matrix whose weights lie at `data`, or NULL when there is no memory or it cannot be. */
S2S_API Matrix *matrix_new(int rows, int columns, int bits, uint8_t *data);
S2S_API void matrix_free(Matrix *matrix);

/* Rows `first` and on, from `count` rows of a GGUF tensor. Only Q4_K goes into 4 bits, as it is;
 * into 8 bits Q8_0 goes as it is, anything else to nearest. Returns 0, or -1 for a type unknown or rows
 * that the matrix does not have. */
S2S_API int matrix_fill(Matrix *matrix, int type, const uint8_t *raw, int first, int count);

/* Row `row` of a tensor of floats (F32, F16 or BF16) as float [columns]. */
void read_row(int type, const void *tensor, int row, int columns, float *to);

/* `values` float [columns] as row `row` of `to`. */
void quantise(Quantised *to, int row, const float *values);

/* Sixteen results for each of `count` rows (at most MAX_ROWS) from row `first` on, of tile `tile`:
 * out[row][16]. A row's results are the same to the bit whatever rows it is taken with. */
void tile_product(
    const Matrix *matrix, int tile, const Quantised *rows, int first, int count, float *out);

#endif
