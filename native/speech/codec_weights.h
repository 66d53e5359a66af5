/* How the codec's weights lie in the file: the order in which Python packs them. */
#ifndef S2S_CODEC_WEIGHTS_H
#define S2S_CODEC_WEIGHTS_H

#include "codec.h"

/* The next array in a piece of weights. Past the end it goes on counting: `used` is held against
 * what there is before anything is read. */
typedef struct { const float *weights; uint64_t used; } Cursor;

int padded(int width);
int block_width(const CodecNumbers *numbers, int block);

/* Shapes whose weights lie behind `cursor`, with arrays of the codec's own. */
void lay_transformer(Codec *codec, Cursor *cursor, CodecTransformerShape *shape);
void lay_upsampler(Codec *codec, Cursor *cursor, CodecUpsamplerShape *shape);

#endif
