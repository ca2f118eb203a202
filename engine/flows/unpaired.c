/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/unpaired.h"

struct reason {
	const char *name, *text, *help, *capture_help;
};

static const struct reason reasons[] = {
#define X(symbol, name, text, help, capture_help) {name, text, help, capture_help},
	HP3_UNPAIRED_REASONS(X)
#undef X
};

static struct reason reason_of(enum hp3_unpaired_reason r)
{
	return (unsigned)r < HP3_UNPAIRED_MAX ? reasons[r] : (struct reason){"?", "?", NULL, NULL};
}

const char *hp3_unpaired_name(enum hp3_unpaired_reason r)
{
	return reason_of(r).name;
}

const char *hp3_unpaired_text(enum hp3_unpaired_reason r)
{
	return reason_of(r).text;
}

const char *hp3_unpaired_help(enum hp3_unpaired_reason r)
{
	return reason_of(r).help;
}

const char *hp3_unpaired_capture_help(enum hp3_unpaired_reason r)
{
	return reason_of(r).capture_help;
}
