/* SPDX-License-Identifier: BSD-3-Clause */
#include "ppp/depth.h"
#include <string.h>
#include "ppp/ports.h"

static void look_at(struct hp3_depth *d, uint8_t level)
{
	d->level = level;
	d->at = d->tries = d->missing = 0;
}

void hp3_depth_init(struct hp3_depth *d, uint8_t hint, uint64_t *rng)
{
	memset(d, 0, sizeof(*d));
	for (unsigned i = 0; i < HP3_DEPTH_PORTS; i++) {
		do {
			d->port[i] = hp3_random_port(rng);
		} while (hp3_port_among(d->port, i, d->port[i]));
	}
	d->hint = hint;
	look_at(d, hint != 0 ? hint : 1);
}

static uint8_t names_of(const uint32_t *label)
{
	uint8_t names = 0;

	for (unsigned i = 0; i < HP3_DEPTH_PORTS; i++) {
		unsigned j = 0;

		while (label[j] != label[i])
			j++;
		names += j == i && label[i] != HP3_LABEL_NONE;
	}
	return names;
}

static enum hp3_depth_state end_search(struct hp3_depth *d)
{
	d->state = d->names >= 2 ? HP3_DEPTH_FOUND : HP3_DEPTH_NOTHING;
	return (enum hp3_depth_state)d->state;
}

/* The hint did not help: starts at the first switch. */
static bool give_up_hint(struct hp3_depth *d)
{
	if (d->hint == 0)
		return false;
	d->hint = d->unused = d->names = 0;
	look_at(d, 1);
	return true;
}

static enum hp3_depth_state end_level(struct hp3_depth *d)
{
	bool usable = d->missing <= HP3_DEPTH_MISSING;
	uint8_t names = usable ? names_of(d->now) : 0;

	d->unused = usable ? 0 : d->unused + 1;
	if (names > d->names) {
		d->names = names;
		d->ttl = d->level;
		memcpy(d->label, d->now, sizeof(d->label));
	}
	if (d->hint != 0 && d->names >= 2)
		return end_search(d);
	if (give_up_hint(d))
		return HP3_DEPTH_SCANNING;
	if (d->unused == HP3_DEPTH_SILENT || d->level == HP3_DEPTH_MAX)
		return end_search(d);
	look_at(d, d->level + 1);
	return HP3_DEPTH_SCANNING;
}

enum hp3_depth_state hp3_depth_reported(struct hp3_depth *d, uint32_t label)
{
	if (label == HP3_LABEL_NONE && ++d->tries < HP3_DEPTH_TRIES)
		return HP3_DEPTH_SCANNING;
	d->now[d->at] = label;
	d->missing += label == HP3_LABEL_NONE;
	d->tries = 0;
	d->at++;
	if (d->at == HP3_DEPTH_PORTS || d->missing > HP3_DEPTH_MISSING)
		return end_level(d);
	return HP3_DEPTH_SCANNING;
}

enum hp3_depth_state hp3_depth_reached(struct hp3_depth *d)
{
	return give_up_hint(d) ? HP3_DEPTH_SCANNING : end_search(d);
}
