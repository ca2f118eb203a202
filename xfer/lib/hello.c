/* SPDX-License-Identifier: BSD-3-Clause */
/* Hellos: the first frame of each connection of a control channel. */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "xfer/lib/internal.h"

void hp3x_hello_make(struct hp3x_peer *peer)
{
	struct hp3x_hello *h = &peer->channel.hello;
	struct hp3x_greeting own;

	hp3x_core_greet(peer->domain->core, &own);
	*h = (struct hp3x_hello){.magic = HP3X_HELLO_MAGIC,
		.identity = htole64(own.identity),
		.rails = htole32(own.rails),
		.paths_per_rail = htole32(own.paths_per_rail)};
	snprintf(h->provider, sizeof(h->provider), "%s", peer->domain->provider->name);
	hp3x_hello_addresses(peer->domain, h);
	/* 128 random bits: without them nobody can take over the session. */
	if (getrandom(h->session, sizeof(h->session), 0) != sizeof(h->session))
		memcpy(h->session, &own.identity, sizeof(own.identity));
}

const char *hp3x_hello_wrong(const struct hp3x_domain *d, const struct hp3x_hello *h)
{
	if (memcmp(h->magic, HP3X_HELLO_MAGIC, sizeof(h->magic)) != 0)
		return "the other end has no libhp3x, or another version of it";
	if (strncmp(h->provider, d->provider->name, sizeof(h->provider)) != 0)
		return "the two ends use different providers: name the same one in both";
	if (le64toh(h->identity) == d->config.identity)
		return "this is the control address of the own domain: connect to another one";
	if (le64toh(h->identity) == 0)
		return "the hello has no identity";
	if (h->rails == 0 || le32toh(h->rails) > HP3X_RAILS || h->paths_per_rail == 0)
		return "the peer has a number of rails that makes no sense";
	if (le32toh(h->n_addresses) > HP3X_RAILS)
		return "the hello names more addresses than a domain has rails";
	return NULL;
}

bool hp3x_hello_met(struct hp3x_peer *peer, uint64_t now, const struct hp3x_hello *h)
{
	struct hp3x_greeting other = {.identity = le64toh(h->identity),
		.rails = le32toh(h->rails),
		.paths_per_rail = le32toh(h->paths_per_rail)};
	struct hp3x_channel *c = &peer->channel;

	if (hp3x_outbox_rewind(&c->out, le64toh(h->received)) < 0 ||
		(c->met && peer->identity != other.identity)) {
		hp3x_peer_lose(peer, now, "the process of the peer was started again");
		return false;
	}
	if (c->met)
		return true;
	c->met = true;
	c->hello.again = htole32(1);
	__atomic_store_n(&peer->identity, other.identity, __ATOMIC_RELAXED);
	if (hp3x_core_peer_up(peer->domain->core, now, peer->index, &other) < 0) {
		hp3x_peer_lose(peer, now, "the peer has a number of rails that makes no sense");
		return false;
	}
	return true;
}
