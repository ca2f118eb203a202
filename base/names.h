/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Names of the values of enums. */
#include <stddef.h>

/*
 * An X for lists X(symbol, text) of all values of an enum, in order. Makes a table of names from
 * the texts.
 */
#define HP3_NAME_TEXT(symbol, text) text,

/*
 * The name of enum value `i`: element `i` of a table of names, or "?" if the table ends before `i`.
 */
#define HP3_NAME(names, i) ((size_t)(i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : "?")
