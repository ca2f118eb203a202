/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths between the hosts, chosen by the source port: each a FIFO per direction that loses,
 * damages, copies, delays, marks, or pauses. */
#include "tests/whole/sim.h"

#define ETHER 14u
#define CE    3u
#define CE_6  0x30u /* likewise, in IPv6's second byte */

struct where where_in(const uint8_t *frame)
{
	struct where w = {.ip = ETHER};
	uint16_t type = hp3_be16(frame + 12);

	for (uint32_t i = 0; i < HP3_TAGS_MAX && hp3_is_tpid(type); i++) {
		w.vlan |= hp3_tag_vlan(i, type, hp3_be16(frame + w.ip));
		w.ip += HP3_TAG_LEN;
		type = hp3_be16(frame + w.ip - 2);
	}
	w.ipv6 = type == 0x86dd;
	if (w.ipv6 || type == 0x0800)
		w.udp = w.ip + (w.ipv6 ? 40 : 20);
	return w;
}

void network_begin(struct sim *s)
{
	s->n_paths = 2 + draw(s, SIM_PATHS - 1);
	for (uint32_t i = 0; i < s->n_paths; i++)
		s->paths[i].delay = (5 + draw(s, 100)) * US;
}

void network_calm(struct sim *s)
{
	s->loss_ppm = s->damage_ppm = s->copy_ppm = 0;
	for (uint32_t i = 0; i < s->n_paths; i++) {
		s->paths[i].dead_until = 0;
		s->paths[i].hot = false;
	}
}

/* The UDP source port; 0: there is none. */
static uint16_t port_of(const struct frame *f)
{
	struct where at = where_in(f->data);

	return at.udp != 0 ? hp3_be16(f->data + at.udp) : 0;
}

static uint32_t path_of(const struct sim *s, const struct frame *f)
{
	return (uint32_t)(port_of(f) * 2654435761u >> 16) % s->n_paths;
}

static void arrive(struct sim *s, void *arg, uint64_t to)
{
	struct frame *f = arg;
	enum side side = ports_choose(&s->p[to], NET, port_of(f) >> 3 ^ port_of(f));

	f->loose |= f->members != s->members;
	ports_receive(&s->p[to], side, f);
}

/* The checksum of IPv4's header follows. */
static void mark(struct frame *f)
{
	struct where at = where_in(f->data);
	uint8_t *ip = f->data + at.ip, ce = at.ipv6 ? CE_6 : CE;
	uint32_t sum = 0;

	if (at.udp == 0 || (ip[1] & ce) == 0)
		return;
	ip[1] |= ce;
	f->pkt.ce = true;
	if (at.ipv6)
		return;
	hp3_put_be16(ip + 10, 0);
	for (uint32_t i = 0; i < 20; i += 2)
		sum += hp3_be16(ip + i);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	hp3_put_be16(ip + 10, (uint16_t)~sum);
}

static void carry(struct sim *s, struct frame *f, struct path *p, unsigned from)
{
	uint64_t t = s->now + p->delay + draw(s, 2000) + (p->hot ? HOT_NS : 0);

	if (t <= p->free[from])
		t = p->free[from] + 1;
	p->free[from] = t;
	sim_at(s, t, arrive, f, !from);
}

void network_send(struct sim *s, unsigned from, struct frame *f)
{
	struct path *p = &s->paths[path_of(s, f)];
	struct frame *copy = NULL;

	if (s->now < p->dead_until || draws(s, s->loss_ppm)) {
		s->r.lost++;
		free(f);
		return;
	}
	if (p->hot && !f->dirty)
		mark(f);
	if (draws(s, s->damage_ppm)) {
		/* Whoever answers does so in the VLAN that the question bears. */
		uint32_t from = s->vlan != 0 ? where_in(f->data).ip : 0;

		f->data[from + draw(s, f->len - from)] ^= (uint8_t)(1u << draw(s, 8));
		f->dirty = true;
		s->r.damaged++;
	}
	if (draws(s, s->copy_ppm)) {
		copy = malloc(sizeof(*copy));
		*copy = *f;
		copy->copy = true;
		s->r.copied++;
	}
	carry(s, f, p, from);
	if (copy != NULL)
		carry(s, copy, p, from);
}

/* What is on its way. */
void network_free(struct sim *s)
{
	for (uint32_t i = 0; i < s->n_list; i++) {
		if (s->list[i].fn == arrive || s->list[i].fn == rnics_report)
			free(s->list[i].arg);
	}
}
