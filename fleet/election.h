/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_ELECTION_H
#define HP3_FLEET_ELECTION_H
/*
 * Which of several planners plans: who leads goes on while it is heard; when nobody has led for
 * takeover_ms, the first by name of those that were heard within that time takes over, with the
 * next term. Two that lead (a network that was cut in two and has healed) are one again after one
 * keep-alive: the higher term stays, of equal ones the first by name.
 *
 * While the network is cut each part may have one that leads. That does no harm: a plan is advice,
 * and hosts apply the newest term.
 *
 * Sans-IO: keep-alives and time go in. Times in ms. Names differ; who finds its own name in
 * another's keep-alive has been started twice, which hp3_election_heard() says.
 */
#include "fleet/message.h"

#define HP3_ELECTION_PEERS 16u

struct hp3_election {
	char name[HP3_FLEET_NAME];
	uint32_t takeover_ms;
	uint64_t term; /* highest seen */
	uint64_t led_ms; /* when somebody led last */
	bool leads;
	struct {
		char name[HP3_FLEET_NAME];
		uint64_t heard_ms;
	} peer[HP3_ELECTION_PEERS]; /* name "": free */
};

/* `name` may be e's own: it begins anew. */
void hp3_election_init(
	struct hp3_election *e, const char *name, uint32_t takeover_ms, uint64_t now_ms);
/* Somebody's keep-alive; not one's own. False: it bears one's own name. */
bool hp3_election_heard(
	struct hp3_election *e, const struct hp3_fleet_keepalive *b, uint64_t now_ms);
/* To be called before each keep-alive: does this one lead? */
bool hp3_election_tick(struct hp3_election *e, uint64_t now_ms);
/* What to tell the others. */
struct hp3_fleet_keepalive hp3_election_keepalive(const struct hp3_election *e);

#endif
