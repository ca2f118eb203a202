/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Selects flows for a list. A filter consists of terms, separated by blanks. It selects a flow if
 * all terms are true of the flow.
 *     rtt>100         one of its numbers (hp3d_filter_keys) is above, below (<) or equal to (=) N
 *     draining moved  its state, or another property (hp3d_filter_words)
 *     10.9.0.2        any other text: a part of its id
 *     !moved          negation
 */
#include <jansson.h>
#include "engine/engine.h"

#define HP3D_FILTER_TERMS 8u
#define HP3D_FILTER_TEXT  128u

enum hp3d_term_kind { HP3D_TERM_TEXT, HP3D_TERM_WORD, HP3D_TERM_STATE, HP3D_TERM_NUMBER };

struct hp3d_term {
	enum hp3d_term_kind kind;
	bool not ;
	char op; /* NUMBER: < = > */
	unsigned which; /* WORD, STATE, NUMBER: index */
	double number;
	const char *text; /* TEXT: in `buf` of the filter */
};

struct hp3d_filter {
	struct hp3d_term term[HP3D_FILTER_TERMS];
	unsigned n;
	char buf[HP3D_FILTER_TEXT];
};

/* Reads "filter" of a request (absent: every flow fits). Returns NULL, or an error answer. */
json_t *hp3d_filter_read(json_t *req, struct hp3d_filter *f);
bool hp3d_filter_fits(
	const struct hp3d_filter *f, const char *id, const struct hp3_flow_info *info);

extern const char *const hp3d_filter_words[]; /* both arrays end with NULL */
extern const char *const hp3d_filter_keys[];
