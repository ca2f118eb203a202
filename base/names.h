/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Names of the values of enums. */
#include <stddef.h>

/* For a list X(symbol, text) of all values of an enum in order: its texts, as a table of names. */
#define HP3_NAME_TEXT(symbol, text) text,

/*
 * The name of enum value `i`, from a table of names indexed by that value. "?" if the table ends
 * before `i`.
 */
#define HP3_NAME(names, i) ((size_t)(i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : "?")
