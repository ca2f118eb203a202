/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Macros that write rows of a table of keys (ini.h). The argument `object` is the type of the
 * object that a file sets or, for a family, the type of an element. The argument `member` is the
 * field that the key sets.
 */
#include "config/ini.h"

#define HP3_ROW_KEY(sec, name, object, member)                                                     \
	.section = sec, .key = name, .offset = offsetof(object, member),                           \
	.size = sizeof(((object *)0)->member)
#define HP3_ROW_INT(sec, name, object, member, of, d, least, most, text)                           \
	{                                                                                          \
		HP3_ROW_KEY(sec, name, object, member), .type = HP3_INI_INT, .unit = of, .def = d, \
							.min = least, .max = most, .help = text    \
	}
#define HP3_ROW_ENUM(sec, name, object, member, words, d, text)                                    \
	{                                                                                          \
		HP3_ROW_KEY(sec, name, object, member), .type = HP3_INI_ENUM, .unit = "",          \
							.choices = words, .def = d, .help = text   \
	}
/* A text of at least `least` bytes. If `least` is not 0, each section must have this key. */
#define HP3_ROW_TEXT(sec, name, object, member, d, least, text)                                    \
	{                                                                                          \
		HP3_ROW_KEY(sec, name, object, member),                                            \
			.type = HP3_INI_STRING, .unit = "", .def_string = d, .min = least,         \
			.max = sizeof(((object *)0)->member) - 1, .required = (least) > 0,         \
			.rule = "a text", .help = text                                             \
	}
/*
 * The end of a section's row that makes the section a family. The elements of the family are in
 * `list` of the object.
 */
#define HP3_ROW_FAMILY(object, list, n_list, most)                                                 \
	.max = most, .array = offsetof(object, list), .stride = sizeof(((object *)0)->list[0]),    \
	.count = offsetof(object, n_list), .name_size = 16
