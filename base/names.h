/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BASE_NAMES_H
#define HP3_BASE_NAMES_H
/* The name of value `i` of an enum, from a table of them; "?" for what is none. */
#include <stddef.h>

#define HP3_NAME(names, i) ((size_t)(i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : "?")

#endif
