/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: questions and answers about queue pairs, sent by plain sockets. */
#include <errno.h>
#include "app/hp3d/pipe/agent_internal.h"

/* Key agreement needs the queue pairs that these questions find, so they cannot use agreed keys.
 * Questions and answers have tags of the probe_key, or none. */
static struct hp3_probe_keys hello_keys(const struct hp3d_agent *a)
{
	struct hp3_probe_keys keys = a->keys;

	keys.key[0].agreed = NULL;
	return keys;
}

void hp3d_agent_ask(struct hp3d_agent *a, const struct hp3_addressing *to, uint32_t qkey,
	uint64_t nonce, void *buf)
{
	const struct hp3_probe_keys keys = hello_keys(a);
	struct hp3_hello h = {.kind = HP3_HELLO_ASK,
		.qkey = qkey,
		.nonce = nonce,
		.clock_us = hp3d_agent_clock_us()};

	hp3_hello_build(buf, to, a->port, &h, &keys.key[a->use]);
}

void hp3d_agent_answer_hello(struct hp3d_agent *a, const struct hp3_addressing *to, uint16_t dport,
	const struct hp3_hello *ask, const struct hp3_hello *ours, void *buf)
{
	const struct hp3_probe_keys keys = hello_keys(a);
	struct hp3_hello h = *ours;

	h.kind = HP3_HELLO_ANSWER;
	h.nonce = ask->nonce;
	h.clock_us = ask->clock_us;
	hp3_hello_build(buf, to, dport, &h, &keys.key[ask->key]);
}

int hp3d_agent_read_hello(struct hp3d_agent *a, const struct hp3_addressing *from, uint16_t dport,
	const void *buf, size_t n, uint64_t now, struct hp3_hello *h)
{
	struct hp3_ends ends = {.ipv6 = from->ipv6, .local = from->dst_ip, .remote = from->src_ip};
	const struct hp3d_neighbour *known = hp3d_neighbours_find(&a->neighbours, &ends);
	const struct hp3_probe_keys keys = hello_keys(a);
	const struct hp3_hello_datagram d = {from, dport, buf, n};
	int err = hp3_hello_read(&d, &keys, h);

	if (err == 0 && a->agrees && from->sport >= HP3_PRIVILEGED) {
		a->stats.hellos_unprivileged++;
		return -EACCES;
	}
	a->stats.hellos_bad_form += err == -EBADMSG;
	a->stats.hellos_version += err == -EPROTONOSUPPORT;
	a->stats.hellos_bad_tag += err == -EACCES;
	if (err < 0)
		return err;
	if (h->kind == HP3_HELLO_ANSWER)
		return 0;
	return hp3_responder_hello(a->responder, from, h,
		       !hp3d_agent_has_key(a) && known != NULL && known->peer,
		       &(struct hp3_times){hp3d_agent_clock(), now})
		       ? 0
		       : -EPERM;
}

bool hp3d_agent_has_key(const struct hp3d_agent *a)
{
	return hp3_probe_keyed(&a->keys.key[0]);
}

void hp3d_agent_stray_hello(struct hp3d_agent *a)
{
	a->stats.hellos_stray++;
}
