/* Names of the functions that are compiled once for each level of a processor, as in level.h: those
 * that other files call. Every header includes this one, first of all. */
#ifndef S2S_NAMES_H
#define S2S_NAMES_H

#include "level.h"

/* fault.h */
#define fail S2S_NAME(fail)

/* packed_file.h */
#define file_open S2S_NAME(file_open)
#define file_close S2S_NAME(file_close)
#define file_find S2S_NAME(file_find)
#define file_read S2S_NAME(file_read)
#define file_read_all S2S_NAME(file_read_all)
#define file_read_part S2S_NAME(file_read_part)

/* unicode.h */
#define unicode_read S2S_NAME(unicode_read)
#define unicode_free S2S_NAME(unicode_free)
#define utf8_decode S2S_NAME(utf8_decode)
#define utf8_encode S2S_NAME(utf8_encode)
#define normal_room S2S_NAME(normal_room)
#define normalise S2S_NAME(normalise)
#define class_of S2S_NAME(class_of)

/* tokenizer.h */
#define tokenizer_read S2S_NAME(tokenizer_read)
#define tokenizer_free S2S_NAME(tokenizer_free)
#define tokenize S2S_NAME(tokenize)

/* random.h */
#define random_seed S2S_NAME(random_seed)
#define random_uniform S2S_NAME(random_uniform)
#define random_exponentials S2S_NAME(random_exponentials)

/* sampling.h */
#define first_codes_new S2S_NAME(first_codes_new)
#define first_codes_free S2S_NAME(first_codes_free)
#define first_codes_begin S2S_NAME(first_codes_begin)
#define first_codes_choose S2S_NAME(first_codes_choose)

/* stop_rules.h */
#define frames_for_text S2S_NAME(frames_for_text)
#define watch_after S2S_NAME(watch_after)
#define watch_trailing S2S_NAME(watch_trailing)

/* schedule.h */
#define schedule_new S2S_NAME(schedule_new)
#define schedule_made S2S_NAME(schedule_made)
#define schedule_due S2S_NAME(schedule_due)
#define schedule_decoded S2S_NAME(schedule_decoded)

/* language_model.h */
#define language_read S2S_NAME(language_read)
#define language_free S2S_NAME(language_free)
#define is_projected S2S_NAME(is_projected)
#define table_row S2S_NAME(table_row)
#define frame_vector S2S_NAME(frame_vector)
#define predictor_input S2S_NAME(predictor_input)

/* codec.h */
#define codec_read S2S_NAME(codec_read)
#define codec_free S2S_NAME(codec_free)
#define codec_begin S2S_NAME(codec_begin)
#define codec_decode S2S_NAME(codec_decode)

/* codec_weights.h */
#define padded S2S_NAME(padded)
#define block_width S2S_NAME(block_width)
#define lay_transformer S2S_NAME(lay_transformer)
#define lay_upsampler S2S_NAME(lay_upsampler)

/* voices.h */
#define voices_read S2S_NAME(voices_read)
#define voices_free S2S_NAME(voices_free)
#define find_name S2S_NAME(find_name)
#define same_name S2S_NAME(same_name)

/* prompt.h */
#define prompt_build S2S_NAME(prompt_build)
#define prompt_free S2S_NAME(prompt_free)
#define add_text_of_frame S2S_NAME(add_text_of_frame)
#define text_left S2S_NAME(text_left)
#define tokenize_text S2S_NAME(tokenize_text)

/* utterance.h */
#define utterance_speak S2S_NAME(utterance_speak)
#define is_stopped S2S_NAME(is_stopped)
#define sound_waiting S2S_NAME(sound_waiting)

/* speech.h */
#define speech_functions S2S_NAME(speech_functions)

#endif
