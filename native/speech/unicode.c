#include "unicode.h"

#include <stdlib.h>
#include <string.h>

/* DEPTH: of decompositions within decompositions; Unicode has four. LONGEST: characters of a whole
 * decomposition; Unicode has four as well. */
enum { DEPTH = 6, LONGEST = 8, TABLE_BYTES = 1 << 22, END_OF_UNICODE = 0x110000 };

/* Hangul syllables are composed by arithmetic. */
enum {
    SYLLABLE = 0xac00, LEADING = 0x1100, VOWEL = 0x1161, TRAILING = 0x11a7,
    LEADINGS = 19, VOWELS = 21, TRAILINGS = 28, SYLLABLES = LEADINGS * VOWELS * TRAILINGS
};

int unicode_read(Unicode *unicode, const PackedFile *file, Fault *fault)
{
    const size_t two = 2 * sizeof(int32_t), three = 3 * sizeof(int32_t);
    unicode->classes = file_read_all(
        file, "unicode.classes", TABLE_BYTES, two, &unicode->class_count, fault);
    if (!unicode->classes) return -1;
    unicode->combining = file_read_all(
        file, "unicode.combining", TABLE_BYTES, two, &unicode->combining_count, fault);
    if (!unicode->combining) return -1;
    unicode->decompositions = file_read_all(
        file, "unicode.decompositions", TABLE_BYTES, three, &unicode->decomposition_count, fault);
    if (!unicode->decompositions) return -1;
    unicode->compositions = file_read_all(
        file, "unicode.compositions", TABLE_BYTES, three, &unicode->composition_count, fault);
    return unicode->compositions ? 0 : -1;
}

void unicode_free(Unicode *unicode)
{
    free(unicode->classes);
    free(unicode->combining);
    free(unicode->decompositions);
    free(unicode->compositions);
}

/* --- UTF-8 ------------------------------------------------------------------------------------ */

ptrdiff_t utf8_decode(const char *text, size_t bytes, Character *to)
{
    static const Character least[] = { 0, 0x80, 0x800, 0x10000 };
    ptrdiff_t count = 0;
    for (size_t at = 0; at < bytes;) {
        uint8_t first = (uint8_t)text[at++];
        int more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        Character found = more ? first & (0x3f >> more) : first;
        if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || (size_t)more > bytes - at) return -1;
        for (int in = 0; in < more; in++, at++) {
            if (((uint8_t)text[at] & 0xc0) != 0x80) return -1;
            found = found << 6 | ((uint8_t)text[at] & 0x3f);
        }
        if (found < least[more] || found >= END_OF_UNICODE || (found >= 0xd800 && found < 0xe000))
            return -1;
        to[count++] = found;
    }
    return count;
}

int utf8_encode(Character character, uint8_t *to)
{
    uint32_t bits = (uint32_t)character;
    int more = bits < 0x80 ? 0 : bits < 0x800 ? 1 : bits < 0x10000 ? 2 : 3;
    if (!more) {
        to[0] = (uint8_t)bits;
        return 1;
    }
    for (int at = more; at > 0; at--, bits >>= 6) to[at] = (uint8_t)(0x80 | (bits & 0x3f));
    to[0] = (uint8_t)(0xff00 >> (more + 1) | bits);
    return more + 1;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* The last row of `width` numbers whose first is at most `first`, or NULL. */
static const int32_t *row_before(const int32_t *rows, int count, int width, int32_t first)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (rows[middle * width] <= first)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? rows + (low - 1) * width : NULL;
}

static const int32_t *row_of_character(
    const int32_t *rows, int count, int width, Character character)
{
    const int32_t *row = row_before(rows, count, width, character);
    return row && *row == character ? row : NULL;
}

static int combining_class(const Unicode *unicode, Character character)
{
    const int32_t *row
        = row_of_character(unicode->combining, unicode->combining_count, 2, character);
    return row ? row[1] : 0;
}

char class_of(const Unicode *unicode, Character character)
{
    if (character == '\r' || character == '\n') return 'R';
    if (character == ' ') return 'S';
    if ((character >= 9 && character < 14) || character == 0x85 || character == 0xa0
        || character == 0x1680 || (character >= 0x2000 && character <= 0x200a)
        || character == 0x2028 || character == 0x2029 || character == 0x202f
        || character == 0x205f || character == 0x3000)
        return 'W';
    const int32_t *row = row_before(unicode->classes, unicode->class_count, 2, character);
    return row && (row[1] == 'L' || row[1] == 'N') ? (char)row[1] : 'O';
}

/* --- normal form ------------------------------------------------------------------------------ */

size_t normal_room(size_t characters)
{
    return characters * LONGEST;
}

static int valid(int32_t character)
{
    return character > 0 && character < END_OF_UNICODE;
}

/* What a character is made of, at most `room` characters; returns how many. */
static int decompose(
    const Unicode *unicode, Character character, int depth, Character *to, int room)
{
    int syllable = character - SYLLABLE;
    if (room < 1) return 0;
    if (syllable >= 0 && syllable < SYLLABLES && room >= 3) {
        to[0] = LEADING + syllable / (VOWELS * TRAILINGS);
        to[1] = VOWEL + syllable / TRAILINGS % VOWELS;
        to[2] = TRAILING + syllable % TRAILINGS;
        return syllable % TRAILINGS ? 3 : 2;
    }
    const int32_t *row = row_of_character(
        unicode->decompositions, unicode->decomposition_count, 3, character);
    if (!row || depth == DEPTH || !valid(row[1])) {
        *to = character;
        return 1;
    }
    int count = decompose(unicode, row[1], depth + 1, to, room);
    if (valid(row[2])) count += decompose(unicode, row[2], depth + 1, to + count, room - count);
    return count;
}

/* Marks behind a character, in the order of their classes; equal ones stay in theirs. */
static void order(const Unicode *unicode, Character *text, size_t count)
{
    for (size_t at = 1; at < count; at++) {
        Character moved = text[at];
        int class = combining_class(unicode, moved);
        size_t to = at;
        if (!class) continue;
        while (to && combining_class(unicode, text[to - 1]) > class) {
            text[to] = text[to - 1];
            to--;
        }
        text[to] = moved;
    }
}

/* What two characters are together, or 0. */
static Character composed(const Unicode *unicode, Character first, Character second)
{
    int leading = first - LEADING, vowel = second - VOWEL, syllable = first - SYLLABLE;
    int trailing = second - TRAILING;
    if (leading >= 0 && leading < LEADINGS && vowel >= 0 && vowel < VOWELS)
        return SYLLABLE + (leading * VOWELS + vowel) * TRAILINGS;
    if (syllable >= 0 && syllable < SYLLABLES && syllable % TRAILINGS == 0 && trailing > 0
        && trailing < TRAILINGS)
        return first + trailing;
    const int32_t *rows = unicode->compositions;
    const int32_t *row = row_before(rows, unicode->composition_count, 3, first);
    while (row && row[0] == first && row[1] != second) row = row == rows ? NULL : row - 3;
    return row && row[0] == first && valid(row[2]) ? row[2] : 0;
}

static size_t compose(const Unicode *unicode, Character *text, size_t count)
{
    size_t kept = 0, starter = 0;
    int has_starter = 0, last = 0; /* the class of the last mark that was kept behind the starter */
    for (size_t at = 0; at < count; at++) {
        int class = combining_class(unicode, text[at]), adjacent = kept == starter + 1;
        if (has_starter && (adjacent || (last && last < class))) {
            Character both = composed(unicode, text[starter], text[at]);
            if (both) {
                text[starter] = both;
                continue;
            }
        }
        if (!class) {
            starter = kept;
            has_starter = 1;
        }
        last = class;
        text[kept++] = text[at];
    }
    return kept;
}

size_t normalise(const Unicode *unicode, const Character *text, size_t count, Character *to)
{
    size_t decomposed = 0;
    for (size_t at = 0; at < count; at++)
        decomposed += (size_t)decompose(unicode, text[at], 0, to + decomposed, LONGEST);
    order(unicode, to, decomposed);
    return compose(unicode, to, decomposed);
}
