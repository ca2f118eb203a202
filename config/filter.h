/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_FILTER_H
#define HP3_CONFIG_FILTER_H
/* Lists of [filter] as text, and as the engine takes them. Blanks around commas are allowed. */
#include "engine/filter.h"

bool hp3_filter_valid_peers(const char *text);
bool hp3_filter_valid_dscp(const char *text);
bool hp3_filter_valid_qpns(const char *text);

/* Of texts that are valid, or empty. */
struct hp3_filter hp3_filter_make(const char *peers, const char *dscp, const char *qpns);

#endif
