/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of engine/policy.def as rows of a table of keys (ini.h). The table's objects have the
 * type HP3_POLICY_OBJECT, with a member `struct hp3_engine_config engine`. Rows for studies are
 * left out, unless HP3_POLICY_STUDIES is defined. Include this file within the table.
 */
#define HP3_ROW_HP3_RELOAD(...)  {__VA_ARGS__},
#define HP3_ROW_HP3_RESTART(...) {__VA_ARGS__},
#ifdef HP3_POLICY_STUDIES
#define HP3_ROW_HP3_STUDY(...) {__VA_ARGS__},
#else
#define HP3_ROW_HP3_STUDY(...)
#endif
#define HP3_POLICY_WHERE(sec, name, field)                                                         \
	.section = #sec, .key = #name, .offset = offsetof(HP3_POLICY_OBJECT, engine.field),        \
	.size = sizeof(((HP3_POLICY_OBJECT *)0)->engine.field)
#define HP3_POLICY_INT(sec, name, u, times, d, least, most, reload, field, text)                   \
	HP3_ROW_##reload(HP3_POLICY_WHERE(sec, name, field), .type = HP3_INI_INT, .unit = u,       \
		.scale = times, .def = d, .min = least, .max = most, .reloadable = reload,         \
		.help = text)
#define HP3_POLICY_INT_OR(sec, name, u, d, least, most, text_of_it, reload, field, text)           \
	HP3_ROW_##reload(HP3_POLICY_WHERE(sec, name, field), .type = HP3_INI_INT, .unit = u,       \
		.def = d, .min = least, .max = most, .word = text_of_it, .reloadable = reload,     \
		.help = text)
#define HP3_POLICY_WORD(sec, name, words, d, reload, field, text)                                  \
	HP3_ROW_##reload(HP3_POLICY_WHERE(sec, name, field), .type = HP3_INI_ENUM, .unit = "",     \
		.choices = words, .def = d, .reloadable = reload, .help = text)
#include "engine/policy.def"
#undef HP3_POLICY_WHERE
#undef HP3_ROW_HP3_RELOAD
#undef HP3_ROW_HP3_RESTART
#undef HP3_ROW_HP3_STUDY
#undef HP3_POLICY_OBJECT
#undef HP3_POLICY_STUDIES
