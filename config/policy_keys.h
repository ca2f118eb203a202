/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of engine/policy.def as rows of a table of keys (ini.h). Include this file within the
 * initializer of the table. The table's objects have the type HP3_POLICY_OBJECT, which has a member
 * `struct hp3_engine_config engine`. If HP3_POLICY_STUDIES is defined, keys for studies are like
 * all other keys.
 */
#ifdef HP3_POLICY_STUDIES
#define HP3_ONLY_HP3_STUDY false
#else
#define HP3_ONLY_HP3_STUDY true
#endif
#define HP3_ONLY_HP3_RELOAD  false
#define HP3_ONLY_HP3_RESTART false
#define HP3_POLICY_WHERE(sec, name, field)                                                         \
	.section = #sec, .key = #name, .offset = offsetof(HP3_POLICY_OBJECT, engine.field),        \
	.size = sizeof(((HP3_POLICY_OBJECT *)0)->engine.field)
#define HP3_POLICY_INT(sec, name, u, times, d, least, most, reload, field, text)                   \
	{HP3_POLICY_WHERE(sec, name, field), .type = HP3_INI_INT, .unit = u, .reloadable = reload, \
		.study = HP3_ONLY_##reload, .help = text, .scale = times, .def = d, .min = least,  \
		.max = most},
#define HP3_POLICY_INT_OR(sec, name, u, d, least, most, text_of_it, reload, field, text)           \
	{HP3_POLICY_WHERE(sec, name, field), .type = HP3_INI_INT, .unit = u, .reloadable = reload, \
		.study = HP3_ONLY_##reload, .help = text, .def = d, .min = least, .max = most,     \
		.word = text_of_it},
#define HP3_POLICY_WORD(sec, name, words, d, reload, field, text)                                  \
	{HP3_POLICY_WHERE(sec, name, field), .type = HP3_INI_ENUM, .unit = "",                     \
		.reloadable = reload, .study = HP3_ONLY_##reload, .help = text, .choices = words,  \
		.def = d},
#include "engine/policy.def"
#undef HP3_POLICY_WHERE
#undef HP3_ONLY_HP3_RELOAD
#undef HP3_ONLY_HP3_RESTART
#undef HP3_ONLY_HP3_STUDY
#undef HP3_POLICY_OBJECT
#undef HP3_POLICY_STUDIES
