/* SPDX-License-Identifier: BSD-3-Clause */
/* HP3_WHOLE_TRACE=1: a line for each frame that an RNIC emits, that leaves a host, or that reaches
 * an RNIC or hp3d, and for each event of a flow. For one seed: `test_whole MODULE 1 SEED`. */
#include <stdlib.h>
#include "engine/event.h"
#include "tests/whole/sim.h"

#define AGREE_MAGIC 0x73u

static bool is_on(void)
{
	static int on = -1;

	if (on < 0)
		on = getenv("HP3_WHOLE_TRACE") != NULL;
	return on;
}

/* A message about a sprayed queue pair (probes/agree.h). */
static void print_agree(const uint8_t *p)
{
	static const char *const names[] = {
#define X(sym, text) text,
		HP3_AGREE_KINDS(X)
#undef X
	};
	uint32_t kind = p[1] & 15, next = hp3_be32(p + 44);

	printf(" %s%s number %u turn %u responder %x requester %x", names[kind],
		p[23] != 0 ? " reads" : "", hp3_be32(p + 28), hp3_be32(p + 32),
		hp3_be32(p + 20) >> 8, hp3_be32(p + 24) >> 8);
	if (next != 0)
		printf(" next %u", next & HP3_PSN_MASK);
}

static void print_rdma(const struct frame *f, const uint8_t *udp)
{
	struct hp3_view v;

	hp3_parse(f->data, f->len, &v);
	printf(" port %u op %02x qpn %x psn %u", hp3_be16(udp), v.opcode, v.dest_qpn, v.psn);
	if (v.flags & HP3_VF_AETH)
		printf(" syndrome %02x", v.syndrome);
	if (f->kind == FRAME_REQUEST)
		printf(" lin %llu epoch %u%s", (unsigned long long)f->pkt.lin, f->pkt.epoch,
			f->pkt.first ? " first" : "");
}

void sim_trace(const struct sim *s, const char *what, unsigned host, const struct frame *f)
{
	static const char *const kinds[] = {"request", "reply", "cnp", "other", "own"};
	struct where at;

	if (!is_on())
		return;
	at = where_in(f->data);
	printf("%llu %c %s %s", (unsigned long long)(s->now - s->began) / 1000, 'a' + (int)host,
		what, kinds[f->kind]);
	if (at.udp != 0 && f->kind == FRAME_OWN && f->data[at.udp + 8] == AGREE_MAGIC)
		print_agree(f->data + at.udp + 8);
	else if (at.udp != 0)
		print_rdma(f, f->data + at.udp);
	printf("%s%s%s%s\n", f->shown ? " shown" : "", f->copy ? " copy" : "",
		f->dirty ? " damaged" : "", f->loose ? " loose" : "");
}

void sim_trace_event(const struct sim *s, unsigned host, const struct hp3_event *event)
{
	if (is_on())
		printf("%llu %c event %s lqpn %x rqpn %x\n",
			(unsigned long long)(s->now - s->began) / 1000, 'a' + (int)host,
			hp3_event_name((enum hp3_event_type)event->type), event->lqpn, event->rqpn);
}
