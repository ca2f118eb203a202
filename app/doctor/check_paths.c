/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the network, with paths from a running hp3d. */
#include "app/doctor/internal.h"

#define PORTS_MIN 16u /* fewer are no evidence about a hash */

void hp3_check_polarised(struct hp3_doctor *d)
{
	for (unsigned i = 0; i < d->n_drawn; i++) {
		const struct hp3_drawn *s = &d->drawn[i];

		if (s->ports < PORTS_MIN)
			continue;
		if (s->paths == 1) {
			hp3_find(d, "%s: all %u source ports whose path is known select one path",
				s->pair, s->ports);
			hp3_fix(d, "let the switches hash the UDP source port for ECMP, each layer "
				   "with a seed of its own, and see: hp3ctl paths");
		} else if (s->most * s->paths > 2 * s->ports && s->most * 2 > s->ports) {
			hp3_find(d,
				"%s: %u of %u source ports whose path is known lead to one of %u "
				"paths",
				s->pair, s->most, s->ports, s->paths);
			hp3_fix(d, "give each layer of switches a hash seed of its own, and see: "
				   "hp3ctl paths");
		}
	}
}

void hp3_check_qpn_hashed(struct hp3_doctor *d)
{
	for (unsigned i = 0; i < d->n_drawn; i++) {
		if (!d->drawn[i].by_qpn)
			continue;
		hp3_find(d, "%s: its switches hash the queue pair number, too", d->drawn[i].pair);
		hp3_fix(d, "have the switches hash addresses and UDP ports only, or leave it: hp3d "
			   "then probes for each flow separately");
	}
}

void hp3_check_opcode_hashed(struct hp3_doctor *d)
{
	for (unsigned i = 0; i < d->n_drawn; i++) {
		if (!d->drawn[i].by_opcode)
			continue;
		hp3_find(d, "%s: its switches hash the opcode of RoCE packets", d->drawn[i].pair);
		hp3_fix(d, "have the switches hash addresses and UDP ports only");
	}
}
