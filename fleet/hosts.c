/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a fleet, and the latest report of each host in it. */
#include <errno.h>
#include <string.h>
#include "base/hash.h"
#include "base/minmax.h"
#include "fleet/state.h"

#define HOSTS_MAX 65536u
#define LINKS_MAX 262144u
#define INTERVALS 3u /* a host is gone after this many intervals without a report */
#define ALIGNMENT 64u
#define PERIODS   32u /* bits of hp3_fleet_edge.alarms */

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static bool has_good_limits(const struct hp3_fleet_params *p)
{
	return p->max_hosts >= 1 && p->max_hosts <= HOSTS_MAX && p->max_links >= 2 &&
	       p->max_links <= LINKS_MAX && p->moves <= HP3_FLEET_MOVES && p->period_ms >= 1 &&
	       p->improve_percent <= 100 && p->window_ms / p->period_ms < PERIODS &&
	       p->middle_periods >= 1;
}

/* Places the tables one after the other; with f NULL, only counts bytes. */
static size_t lay_out(const struct hp3_fleet_params *p, struct hp3_fleet *f)
{
	size_t hosts = p->max_hosts, links = p->max_links, at = 0;
	size_t buckets = power_of_two(2 * p->max_hosts) * (size_t)HP3_FLEET_ADDRS;
	size_t link_buckets = power_of_two(4 * p->max_links);
	char *base = (char *)f;

#define TABLE(field, count)                                                                        \
	do {                                                                                       \
		at = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;                                 \
		if (f != NULL)                                                                     \
			f->field = (void *)(base + at);                                            \
		at += (count) * sizeof(*((struct hp3_fleet *)0)->field);                           \
	} while (0)

	at = sizeof(*f);
	TABLE(slot, hosts);
	TABLE(order, hosts);
	TABLE(freed, hosts);
	TABLE(by_name, buckets);
	TABLE(by_addr, buckets);
	TABLE(owner, hosts * HP3_FLEET_ADDRS);
	TABLE(node, links);
	TABLE(by_node, link_buckets);
	TABLE(link, links);
	TABLE(by_link, link_buckets);
	TABLE(placed, hosts * HP3_FLEET_FLOWS);
	TABLE(scratch, links);
	TABLE(first, links + 1);
	TABLE(on_link, 2 * hosts * HP3_FLEET_FLOWS);
#undef TABLE
	if (f != NULL) {
		f->buckets = (uint32_t)buckets;
		f->link_buckets = (uint32_t)link_buckets;
	}
	return at;
}

size_t hp3_fleet_size(const struct hp3_fleet_params *p)
{
	return has_good_limits(p) ? lay_out(p, NULL) : 0;
}

struct hp3_fleet *hp3_fleet_create(void *mem, const struct hp3_fleet_params *p)
{
	struct hp3_fleet *f = mem;

	if (!has_good_limits(p) || (uintptr_t)mem % ALIGNMENT != 0)
		return NULL;
	memset(mem, 0, hp3_fleet_size(p));
	f->p = *p;
	lay_out(p, f);
	memset(f->by_name, 0xff, f->buckets * sizeof(*f->by_name));
	return f;
}

/* The position of a host name in by_name, or the free position for it. */
static uint32_t bucket_of(const struct hp3_fleet *f, const char *host)
{
	uint32_t b = (uint32_t)hp3_hash(f->p.hash_seed, host, strlen(host)) & (f->buckets - 1);

	while (f->by_name[b] != HP3_FLEET_NONE && strcmp(f->slot[f->by_name[b]].r.host, host) != 0)
		b = (b + 1) & (f->buckets - 1);
	return b;
}

/* Links slot `i`, which has its report, with the slots of its name. */
static void enter_slot(struct hp3_fleet *f, uint32_t i)
{
	uint32_t b = bucket_of(f, f->slot[i].r.host);

	f->slot[i].other = HP3_FLEET_NONE;
	if (f->by_name[b] == HP3_FLEET_NONE)
		f->by_name[b] = i;
	else
		f->slot[f->by_name[b]].other = i;
}

static uint32_t free_slot(struct hp3_fleet *f)
{
	if (f->n_freed > 0)
		return f->freed[--f->n_freed];
	return f->n_slots < f->p.max_hosts ? f->n_slots++ : HP3_FLEET_NONE;
}

/*
 * The number of instances of the report's host name; *at: the slot of the report's instance, or
 * HP3_FLEET_NONE.
 */
static uint32_t count_instances(
	const struct hp3_fleet *f, const struct hp3_fleet_report *r, uint32_t *at)
{
	uint32_t n = 0;

	*at = HP3_FLEET_NONE;
	for (uint32_t i = f->by_name[bucket_of(f, r->host)]; i != HP3_FLEET_NONE;
		i = f->slot[i].other, n++)
		if (f->slot[i].r.instance == r->instance)
			*at = i;
	return n;
}

static bool too_soon(struct hp3_fleet *f, struct hp3_fleet_slot *s, uint64_t now_ms)
{
	if (f->p.report_ms > 0 && s->due_ms >= now_ms + (uint64_t)HP3_FLEET_BURST * f->p.report_ms)
		return true;
	s->due_ms = hp3_max_u64(s->due_ms, now_ms) + f->p.report_ms;
	return false;
}

static int refuse_report(uint64_t *count, int why)
{
	++*count;
	return why;
}

/* Takes over each flow's marks at the begin of the period; for a new flow, its marks now. */
static void carry_marks(struct hp3_fleet_slot *s, const struct hp3_fleet_report *r)
{
	uint64_t before[HP3_FLEET_FLOWS];

	for (unsigned i = 0; i < r->n_flows; i++) {
		const struct hp3_fleet_flow *f = &r->flow[i];

		before[i] = f->marks;
		for (unsigned k = 0; s->used && k < s->r.n_flows; k++)
			if (hp3_fleet_key_cmp(&s->r.flow[k].key, &f->key) == 0)
				before[i] = hp3_min_u64(s->marks_before[k], f->marks);
	}
	memcpy(s->marks_before, before, r->n_flows * sizeof(before[0]));
}

int hp3_fleet_take(struct hp3_fleet *f, const struct hp3_fleet_report *r, uint64_t now_ms)
{
	uint32_t at, n = count_instances(f, r, &at);
	struct hp3_fleet_slot *s;
	bool known = at != HP3_FLEET_NONE;

	if (known && r->seq <= f->slot[at].r.seq)
		return refuse_report(&f->counts.old, -EALREADY);
	if (!known && n >= HP3_FLEET_INSTANCES)
		return refuse_report(&f->counts.third_instance, -EUSERS);
	if (!known && (at = free_slot(f)) == HP3_FLEET_NONE)
		return refuse_report(&f->counts.refused, -ENOSPC);
	s = &f->slot[at];
	if (!known)
		s->due_ms = 0;
	if (too_soon(f, s, now_ms))
		return refuse_report(&f->counts.too_often, -EBUSY);
	carry_marks(s, r);
	s->used = true;
	s->r = *r;
	if (!known)
		enter_slot(f, at);
	s->seen = (struct hp3_fleet_host){.report = &s->r, .heard_ms = now_ms};
	f->counts.reports++;
	return 0;
}

static bool is_gone(const struct hp3_fleet *f, const struct hp3_fleet_slot *s, uint64_t now_ms)
{
	uint64_t age = hp3_max_u64(f->p.age_ms, (uint64_t)INTERVALS * s->r.interval_ms);

	return now_ms - s->seen.heard_ms > age;
}

static bool host_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct hp3_fleet *f = arg;
	const struct hp3_fleet_report *x = &f->slot[a].r, *y = &f->slot[b].r;
	int names = strcmp(x->host, y->host);

	return names != 0 ? names < 0 : x->instance < y->instance;
}

static void mark_twins(struct hp3_fleet *f)
{
	f->counts.twins = 0;
	for (uint32_t i = 0; i < f->n_order; i++) {
		struct hp3_fleet_slot *s = &f->slot[f->order[i]];
		const char *name = s->r.host;

		s->seen.twin =
			(i > 0 && strcmp(f->slot[f->order[i - 1]].r.host, name) == 0) ||
			(i + 1 < f->n_order && strcmp(f->slot[f->order[i + 1]].r.host, name) == 0);
		f->counts.twins += s->seen.twin;
	}
}

/* Removes hosts that are gone from `order`. */
static void let_go(struct hp3_fleet *f, uint64_t now_ms)
{
	uint32_t n = f->n_order;

	f->n_order = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct hp3_fleet_slot *s = &f->slot[f->order[i]];

		if (is_gone(f, s, now_ms)) {
			s->used = s->listed = false;
			f->freed[f->n_freed++] = f->order[i];
		} else {
			f->order[f->n_order++] = f->order[i];
		}
	}
	if (f->n_order == n)
		return;
	memset(f->by_name, 0xff, f->buckets * sizeof(*f->by_name));
	for (uint32_t i = 0; i < f->n_slots; i++)
		if (f->slot[i].used)
			enter_slot(f, i);
}

static void let_in(struct hp3_fleet *f)
{
	uint32_t n = f->n_order;

	for (uint32_t i = 0; i < f->n_slots; i++) {
		if (!f->slot[i].used || f->slot[i].listed)
			continue;
		f->slot[i].listed = true;
		f->order[f->n_order++] = i;
	}
	if (f->n_order > n)
		hp3_fleet_sort(f->order, f->n_order, host_before, f);
}

void hp3_fleet_settle_hosts(struct hp3_fleet *f, uint64_t now_ms)
{
	let_in(f);
	let_go(f, now_ms);
	mark_twins(f);
	f->counts.hosts = f->n_order;
}

bool hp3_fleet_host_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_host *out)
{
	if (i >= f->n_order)
		return false;
	*out = f->slot[f->order[i]].seen;
	return true;
}

const struct hp3_fleet_counts *hp3_fleet_counts(const struct hp3_fleet *f)
{
	return &f->counts;
}
