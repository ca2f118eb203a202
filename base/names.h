/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The name of enum value `i`, from a table of names indexed by that value. "?" if the table ends
 * before `i`.
 */
#include <stddef.h>

#define HP3_NAME(names, i) ((size_t)(i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : "?")
