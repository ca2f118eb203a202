/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Makes the engine's filter from the lists of section [filter]. Blanks around commas are allowed.
 */
#include "engine/filter.h"

bool hp3_filter_valid_peers(const char *text);
bool hp3_filter_valid_dscp(const char *text);
bool hp3_filter_valid_qpns(const char *text);

/*
 * Calls fn for each item of a list, until fn returns false. Returns false if fn returned false, or
 * if an item is too long.
 */
typedef bool hp3_list_fn(void *ctx, const char *item);
bool hp3_list_each(const char *text, hp3_list_fn *fn, void *ctx);

/* Makes a filter of texts that are valid or empty. */
struct hp3_filter hp3_filter_make(const char *peers, const char *dscp, const char *qpns);
