/* Memory that runs out at any moment, and sizes that make no sense. */
#ifndef S2S_HOSTILE_H
#define S2S_HOSTILE_H

#include "golden_file.h"
#include "scarce.h"

enum { MOST_ALLOCATIONS = 4096 };

/* `result` is what `expression` gives at last, after it has been refused each of its allocations in
 * turn: then it must say so (`failed`). */
#define WHEN_MEMORY_IS_SCARCE(result, expression, failed)                                          \
    for (int left_ = 0, refused_ = 1; refused_; left_++) {                                         \
        scarce(left_ < MOST_ALLOCATIONS ? left_ : PLENTY);                                         \
        (result) = (expression);                                                                   \
        refused_ = scarce_refused() > 0;                                                           \
        scarce(PLENTY);                                                                            \
        must_be(#expression ": says so without memory", refused_ == (failed));                     \
    }

/* The same of what `expression` makes, or NULL: then nothing is left behind. */
#define MADE_OF_SCARCE_MEMORY(made, expression)                                                    \
    do {                                                                                           \
        int pieces_ = scarce_pieces();                                                             \
        WHEN_MEMORY_IS_SCARCE(                                                                     \
            made, expression, !(made) && scarce_pieces() == pieces_)                               \
    } while (0)

/* Makes everything of the sizes that the cases name, if it can, and says of how many bytes. */
void run_sizes(void);

#endif
