/* Memory that runs out at any moment, and sizes that make no sense. */
#ifndef S2S_HOSTILE_H
#define S2S_HOSTILE_H

#include "golden_file.h"
#include "scarce.h"

enum { MOST_ALLOCATIONS = 4096 };

/* `result`, of a pointer or an int, is what `expression` gives at last, after it has been refused
 * each of its allocations in turn: then it must say so (`failed`), and leave nothing behind. */
#define WHEN_MEMORY_IS_SCARCE(result, expression, failed)                                          \
    for (int left = 0, before = scarce_pieces(), refused = 1; refused; left++) {                   \
        scarce(left < MOST_ALLOCATIONS ? left : PLENTY);                                           \
        (result) = (expression);                                                                   \
        refused = scarce_refused() > 0;                                                            \
        scarce(PLENTY);                                                                            \
        must_be(#expression ": says so without memory", refused == (failed));                      \
        if (refused) must_be(#expression ": frees what it had", scarce_pieces() == before);        \
    }

/* Makes everything of the sizes that the cases name, if it can, and says of how many bytes. */
void run_sizes(void);

#endif
