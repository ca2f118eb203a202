/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/qps.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include "base/hash.h"

#define BUCKETS 8192u /* power of two */
#define USERS   1024u /* chains; power of two */
#define QPN_MAX 0xffffffu

struct qp {
	struct qp *next;
	/* lqpn, pid and device: the key; other fields are set from RTR on */
	struct hp3_watch_event event;
	bool ready; /* RTR had all values of an event */
	bool up;
	struct user *user;
};

/* Exists while one of its processes has a queue pair. */
struct user {
	struct user *next;
	uint32_t uid;
	unsigned n; /* queue pairs */
};

struct hp3_qps {
	struct hp3_qps_hooks hooks;
	unsigned n;
	struct qp *bucket[BUCKETS];
	struct user *users[USERS];
};

struct hp3_qps *hp3_qps_create(const struct hp3_qps_hooks *hooks)
{
	struct hp3_qps *q = calloc(1, sizeof(*q));

	if (q != NULL)
		q->hooks = *hooks;
	return q;
}

static struct user **find_user(struct hp3_qps *q, uint32_t uid)
{
	struct user **at = &q->users[hp3_hash(q->hooks.seed, &uid, sizeof(uid)) % USERS];

	while (*at != NULL && (*at)->uid != uid)
		at = &(*at)->next;
	return at;
}

static bool user_is_full(struct hp3_qps *q, uint32_t uid)
{
	const struct user *u = *find_user(q, uid);

	return uid != 0 && u != NULL && u->n >= HP3_QPS_OF_USER;
}

/* NULL: no memory. */
static struct user *user_get(struct hp3_qps *q, uint32_t uid)
{
	struct user **at = find_user(q, uid);

	if (*at == NULL) {
		*at = calloc(1, sizeof(**at));
		if (*at == NULL)
			return NULL;
		(*at)->uid = uid;
	}
	(*at)->n++;
	return *at;
}

static void user_put(struct hp3_qps *q, struct user *u)
{
	if (--u->n > 0)
		return;
	*find_user(q, u->uid) = u->next;
	free(u);
}

void hp3_qps_free(struct hp3_qps *q)
{
	for (unsigned b = 0; q != NULL && b < BUCKETS; b++) {
		while (q->bucket[b] != NULL) {
			struct qp *next = q->bucket[b]->next;

			user_put(q, q->bucket[b]->user);
			free(q->bucket[b]);
			q->bucket[b] = next;
		}
	}
	free(q);
}

unsigned hp3_qps_count(const struct hp3_qps *q)
{
	return q->n;
}

static bool is_named(const struct hp3_qps *q, const struct qp *p, const struct hp3_verbs_call *c)
{
	return p->event.qp.lqpn == c->qpn && strcmp(p->event.device, c->device) == 0 &&
	       (!q->hooks.by_process || p->event.pid == c->pid);
}

/*
 * The hash chain of a queue pair. The hash is of the whole key of is_named(), because many queue
 * pairs may have the same QPN.
 */
static struct qp **chain_of(struct hp3_qps *q, const struct hp3_verbs_call *c)
{
	struct {
		uint32_t qpn, pid;
		char device[sizeof(c->device)];
	} key = {.qpn = c->qpn, .pid = q->hooks.by_process ? c->pid : 0};

	memcpy(key.device, c->device, strnlen(c->device, sizeof(c->device)));
	return &q->bucket[hp3_hash(q->hooks.seed, &key, sizeof(key)) % BUCKETS];
}

/* The pointer to the queue pair in its chain, or the end of the chain. */
static struct qp **find_qp(struct hp3_qps *q, const struct hp3_verbs_call *c)
{
	struct qp **at = chain_of(q, c);

	while (*at != NULL && !is_named(q, *at, c))
		at = &(*at)->next;
	return at;
}

static struct qp *add_qp(struct hp3_qps *q, struct qp **at, const struct hp3_verbs_call *c)
{
	struct qp *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->user = user_get(q, c->uid);
	if (p->user == NULL) {
		free(p);
		return NULL;
	}
	p->event.qp.lqpn = c->qpn;
	memcpy(p->event.device, c->device, sizeof(p->event.device));
	*at = p;
	q->n++;
	return p;
}

static void report_qp_down(struct hp3_qps *q, struct qp *p, uint64_t now)
{
	p->ready = false;
	if (!p->up)
		return;
	p->up = false;
	p->event.qp.kind = HP3_QP_DOWN;
	p->event.time_ns = now;
	q->hooks.event(q->hooks.ctx, &p->event);
}

static void forget_qp(struct hp3_qps *q, struct qp **at, uint64_t now)
{
	struct qp *p = *at;

	report_qp_down(q, p, now);
	*at = p->next;
	user_put(q, p->user);
	free(p);
	q->n--;
}

static void report_qp_up(struct hp3_qps *q, struct qp *p, uint64_t now)
{
	p->up = true;
	p->event.qp.kind = HP3_QP_UP;
	p->event.time_ns = now;
	q->hooks.event(q->hooks.ctx, &p->event);
}

static bool is_mapped(const uint8_t *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

/* Sets addresses as in packets. False: not a RoCEv2 connection. */
static bool take_addresses(struct hp3_qps *q, struct qp *p, const struct hp3_verbs_call *c)
{
	struct hp3_qp_event *event = &p->event.qp;
	struct hp3_gid local;

	if (!c->global ||
		q->hooks.gid(q->hooks.ctx, c->device, c->port, c->sgid_index, &local) < 0 ||
		is_mapped(local.gid) != is_mapped(c->dgid))
		return false;
	event->ipv6 = !is_mapped(c->dgid);
	memset(event->local, 0, sizeof(event->local));
	memset(event->remote, 0, sizeof(event->remote));
	memcpy(event->local, local.gid + (event->ipv6 ? 0 : 12), event->ipv6 ? 16 : 4);
	memcpy(event->remote, c->dgid + (event->ipv6 ? 0 : 12), event->ipv6 ? 16 : 4);
	event->vlan = local.vlan;
	p->event.port = c->port;
	return true;
}

static void to_rtr(struct hp3_qps *q, struct qp *p, const struct hp3_verbs_call *c)
{
	report_qp_down(q, p, c->time_ns);
	if (!(c->mask & IBV_QP_AV) || !(c->mask & IBV_QP_DEST_QPN) || !take_addresses(q, p, c))
		return;
	p->ready = true;
	p->event.qp.rqpn = c->dest_qpn & QPN_MAX;
	p->event.rq_psn = c->mask & IBV_QP_RQ_PSN ? c->rq_psn & QPN_MAX : 0;
	p->event.mtu = c->mask & IBV_QP_PATH_MTU && c->path_mtu >= IBV_MTU_256 &&
				       c->path_mtu <= IBV_MTU_4096
			       ? 128u << c->path_mtu
			       : 0;
}

static void to_rts(struct hp3_qps *q, struct qp *p, const struct hp3_verbs_call *c)
{
	if (!p->ready || p->up) /* back from SQD or SQE: no change */
		return;
	p->event.qp.psn_known = c->mask & IBV_QP_SQ_PSN;
	p->event.qp.psn = p->event.qp.psn_known ? c->sq_psn & QPN_MAX : 0;
	report_qp_up(q, p, c->time_ns);
}

static bool same_addresses(const struct hp3_qp_event *a, const struct hp3_qp_event *b)
{
	return a->vlan == b->vlan && a->ipv6 == b->ipv6 &&
	       memcmp(a->local, b->local, sizeof(a->local)) == 0 &&
	       memcmp(a->remote, b->remote, sizeof(a->remote)) == 0;
}

/* In SQD, the address vector may change. The queue pair is then another connection. */
static void readdress_qp(struct hp3_qps *q, struct qp *p, const struct hp3_verbs_call *c)
{
	struct qp was = *p;

	if (!p->up || !take_addresses(q, p, c)) {
		*p = was;
		return;
	}
	if (same_addresses(&was.event.qp, &p->event.qp))
		return;
	was.event.qp.kind = HP3_QP_DOWN;
	was.event.time_ns = c->time_ns;
	q->hooks.event(q->hooks.ctx, &was.event);
	p->event.qp.psn_known = false;
	p->event.qp.psn = 0;
	report_qp_up(q, p, c->time_ns);
}

static void modify_qp(struct hp3_qps *q, struct qp *p, const struct hp3_verbs_call *c)
{
	if (!(c->mask & IBV_QP_STATE)) {
		if (c->mask & IBV_QP_AV)
			readdress_qp(q, p, c);
		return;
	}
	switch (c->state) {
	case IBV_QPS_RTR:
		to_rtr(q, p, c);
		break;
	case IBV_QPS_RTS:
		to_rts(q, p, c);
		break;
	case IBV_QPS_SQD:
		if (c->mask & IBV_QP_AV)
			readdress_qp(q, p, c);
		break;
	case IBV_QPS_RESET:
	case IBV_QPS_INIT:
	case IBV_QPS_ERR:
		report_qp_down(q, p, c->time_ns);
		break;
	default: /* SQE: the responder still works, and the requester may work again */
		break;
	}
}

/* Makes the call's process the owner of the queue pair. */
static int take_over(struct hp3_qps *q, struct qp *p, const struct hp3_verbs_call *c)
{
	struct user *user = user_get(q, c->uid);

	if (user == NULL)
		return -ENOMEM;
	user_put(q, p->user);
	p->user = user;
	report_qp_down(q, p, c->time_ns);
	return 0;
}

int hp3_qps_call(struct hp3_qps *q, const struct hp3_verbs_call *c)
{
	struct qp **at = find_qp(q, c);

	if (c->ret != 0 || c->type != IBV_QPT_RC || c->qpn > QPN_MAX)
		return 0;
	if (c->kind == HP3_VERBS_DESTROY) {
		if (*at != NULL)
			forget_qp(q, at, c->time_ns);
		return 0;
	}
	if (*at == NULL) {
		if (q->n >= HP3_QPS_MAX)
			return -ENOSPC;
		if (user_is_full(q, c->uid))
			return -EDQUOT;
		if (add_qp(q, at, c) == NULL)
			return -ENOMEM;
	} else if ((*at)->event.pid != c->pid) {
		/*
		 * Either the process has ended unnoticed, and another process has the QPN; or two
		 * processes share the queue pair. In both cases, the queue pair is handled as a new
		 * one.
		 */
		int err = take_over(q, *at, c);

		if (err < 0)
			return err;
	}
	(*at)->event.pid = c->pid;
	modify_qp(q, *at, c);
	return 0;
}

void hp3_qps_process_ended(struct hp3_qps *q, uint32_t pid, uint64_t now)
{
	for (unsigned b = 0; b < BUCKETS; b++) {
		struct qp **at = &q->bucket[b];

		while (*at != NULL) {
			if ((*at)->event.pid == pid)
				forget_qp(q, at, now);
			else
				at = &(*at)->next;
		}
	}
}
