/* Names of the functions that are compiled once for each level of a processor (flags.txt), so that
 * all levels lie in one library: `pool_new` is s2s_avx2_pool_new in the level avx2. Every header
 * includes this one, first of all.
 *
 * A function that other files call belongs into the list; a linker says so of one that is missing.
 * Those marked S2S_API can be called from outside of the library; all others are hidden. */
#ifndef S2S_LEVEL_H
#define S2S_LEVEL_H

#ifndef S2S_LEVEL
#define S2S_LEVEL native /* the only level of a library that is compiled for this very processor */
#endif

#if defined(_WIN32)
#define S2S_API __declspec(dllexport)
#else
#define S2S_API __attribute__((visibility("default")))
#endif

#define S2S_JOINED(level, name) s2s_##level##_##name
#define S2S_JOIN(level, name) S2S_JOINED(level, name)
#define S2S_NAME(name) S2S_JOIN(S2S_LEVEL, name)

/* platform.h */
#define lock_new S2S_NAME(lock_new)
#define lock_free S2S_NAME(lock_free)
#define lock_take S2S_NAME(lock_take)
#define lock_give S2S_NAME(lock_give)
#define condition_new S2S_NAME(condition_new)
#define condition_free S2S_NAME(condition_free)
#define condition_wait S2S_NAME(condition_wait)
#define condition_wake_all S2S_NAME(condition_wake_all)
#define thread_start S2S_NAME(thread_start)
#define thread_join S2S_NAME(thread_join)
#define this_process S2S_NAME(this_process)
#define now_ns S2S_NAME(now_ns)
#define aligned_new S2S_NAME(aligned_new)
#define aligned_free S2S_NAME(aligned_free)

/* attention.h */
#define attend_stored S2S_NAME(attend_stored)
#define attend_floats S2S_NAME(attend_floats)

/* thread_pool.h */
#define pool_new S2S_NAME(pool_new)
#define pool_take S2S_NAME(pool_take)
#define pool_free S2S_NAME(pool_free)
#define pool_threads S2S_NAME(pool_threads)
#define pool_run S2S_NAME(pool_run)
#define pool_barrier S2S_NAME(pool_barrier)
#define pool_next_item S2S_NAME(pool_next_item)

/* matrix.h */
#define weights_new S2S_NAME(weights_new)
#define weights_free S2S_NAME(weights_free)
#define matrix_bytes S2S_NAME(matrix_bytes)
#define matrix_new S2S_NAME(matrix_new)
#define matrix_free S2S_NAME(matrix_free)
#define matrix_fill S2S_NAME(matrix_fill)
#define read_row S2S_NAME(read_row)
#define quantise S2S_NAME(quantise)
#define tile_product S2S_NAME(tile_product)

/* transformer.h */
#define transformer_new S2S_NAME(transformer_new)
#define transformer_free S2S_NAME(transformer_free)
#define transformer_use S2S_NAME(transformer_use)
#define transformer_forward S2S_NAME(transformer_forward)
#define transformer_take_pool S2S_NAME(transformer_take_pool)
#define cache_new S2S_NAME(cache_new)
#define cache_free S2S_NAME(cache_free)
#define cache_length S2S_NAME(cache_length)
#define cache_rewind S2S_NAME(cache_rewind)
#define matrix_product S2S_NAME(matrix_product)
#define matrix_products S2S_NAME(matrix_products)
#define instructions S2S_NAME(instructions)

/* code_predictor.h, emulated_acceptance.c */
#define choose_frame S2S_NAME(choose_frame)
#define choose_frame_verified S2S_NAME(choose_frame_verified)
#define choose_frame_at_rate S2S_NAME(choose_frame_at_rate)
#define accept_or_resample S2S_NAME(accept_or_resample)
#define frame_uniforms S2S_NAME(frame_uniforms)
#define distribution S2S_NAME(distribution)

/* codec_layers.h, codec_matmul.h */
#define next_item S2S_NAME(next_item)
#define end_phase S2S_NAME(end_phase)
#define snake_row S2S_NAME(snake_row)
#define pad_rows S2S_NAME(pad_rows)
#define save_history S2S_NAME(save_history)
#define multiply S2S_NAME(multiply)
#define convolve S2S_NAME(convolve)
#define add_product_rows S2S_NAME(add_product_rows)

/* codec_tiles.h */
#define tiles_floats S2S_NAME(tiles_floats)
#define tiles_scratch S2S_NAME(tiles_scratch)
#define tiles_place S2S_NAME(tiles_place)
#define tiles_read S2S_NAME(tiles_read)
#define tiles_save_history S2S_NAME(tiles_save_history)
#define tiles_multiply S2S_NAME(tiles_multiply)

/* codec_transposed.h */
#define transposed_floats S2S_NAME(transposed_floats)
#define transposed_scratch S2S_NAME(transposed_scratch)
#define convolve_transposed S2S_NAME(convolve_transposed)

/* codec_transformer.h, codec_upsampler.h */
#define codec_transformer_new S2S_NAME(codec_transformer_new)
#define codec_transformer_free S2S_NAME(codec_transformer_free)
#define codec_transformer_run S2S_NAME(codec_transformer_run)
#define codec_upsampler_new S2S_NAME(codec_upsampler_new)
#define codec_upsampler_free S2S_NAME(codec_upsampler_free)
#define codec_upsampler_run S2S_NAME(codec_upsampler_run)

#endif
