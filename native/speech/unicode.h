/* Text as the tokenizer sees it: characters in Unicode's normal form C, and the class of each. The
 * tables of Unicode come with the packed model. */
#ifndef S2S_UNICODE_H
#define S2S_UNICODE_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "packed_file.h"

typedef int32_t Character;

/* classes [n][2]: from that character on, the class: L letter, N number, O anything else (line
 * ends and white space are known without). combining [n][2]: characters and their classes, those of
 * class 0 left out. decompositions [n][3]: a character, and the one or two (or 0) it is made of.
 * compositions [n][3]: two characters, and what they are together. All sorted. */
typedef struct {
    int32_t *classes, *combining, *decompositions, *compositions;
    int class_count, combining_count, decomposition_count, composition_count;
} Unicode;

int unicode_read(Unicode *unicode, const PackedFile *file, Fault *fault);
void unicode_free(Unicode *unicode);

/* Characters of UTF-8. Returns how many; -1 for what is none. to: room for `bytes`. */
ptrdiff_t utf8_decode(const char *text, size_t bytes, Character *to);

/* One character in UTF-8: at most four bytes into `to`; returns how many. */
int utf8_encode(Character character, uint8_t *to);

/* Room for the normal form of so many characters. */
size_t normal_room(size_t characters);

/* The normal form C of characters, into `to`; returns how many. */
size_t normalise(
    const Unicode *unicode, const Character *text, size_t count, Character *to);

/* L letter, N number, R line end, S space, W other white space, O anything else. */
char class_of(const Unicode *unicode, Character character);

#endif
