/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK, which two processes share here; and hp3d's queries of the real machine. */
#include <stdio.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring_elem.h>
#include <rte_telemetry.h>
#include "app/doctor/doctor.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/internal.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/record/record.h"
#include "tests/whole/host.h"

#define NAME 32

whole_account_fn whole_account;
whole_in_ring_fn whole_in_ring;
whole_qp_fn whole_qp;
int __wrap_hp3d_eal_init(const struct hp3_config *cfg, unsigned workers, bool quiet);
unsigned __wrap_rte_get_next_lcore(unsigned i, int skip_main, int wrap);
unsigned __wrap_rte_lcore_to_socket_id(unsigned lcore);
int __wrap_rte_dev_probe(const char *devargs);
int __real_rte_eth_dev_start(uint16_t port);
int __wrap_rte_eth_dev_start(uint16_t port);
int __real_rte_eth_link_get_nowait(uint16_t port, struct rte_eth_link *link);
int __wrap_rte_eth_link_get_nowait(uint16_t port, struct rte_eth_link *link);
int __real_rte_eth_dev_close(uint16_t port);
int __wrap_rte_eth_dev_close(uint16_t port);
struct rte_ring *__real_rte_ring_create_elem(
	const char *name, unsigned elem, unsigned count, int socket, unsigned flags);
struct rte_ring *__wrap_rte_ring_create_elem(
	const char *name, unsigned elem, unsigned count, int socket, unsigned flags);
void __real_rte_ring_free(struct rte_ring *r);
void __wrap_rte_ring_free(struct rte_ring *r);
void *__real_rte_malloc_socket(const char *type, size_t size, unsigned align, int socket);
void *__wrap_rte_malloc_socket(const char *type, size_t size, unsigned align, int socket);
void *__real_rte_zmalloc_socket(const char *type, size_t size, unsigned align, int socket);
void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned align, int socket);
void __real_rte_free(void *mem);
void __wrap_rte_free(void *mem);
struct rte_mempool *__real_rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned private_size, int socket, unsigned flags);
struct rte_mempool *__wrap_rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned private_size, int socket, unsigned flags);
struct rte_mempool *__real_rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache,
	uint16_t private_size, uint16_t room, int socket);
struct rte_mempool *__wrap_rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache,
	uint16_t private_size, uint16_t room, int socket);
struct rte_mbuf *__real_rte_pktmbuf_copy(
	const struct rte_mbuf *m, struct rte_mempool *mp, uint32_t offset, uint32_t length);
struct rte_mbuf *__wrap_rte_pktmbuf_copy(
	const struct rte_mbuf *m, struct rte_mempool *mp, uint32_t offset, uint32_t length);
struct rte_mempool *__real_rte_mempool_lookup(const char *name);
struct rte_mempool *__wrap_rte_mempool_lookup(const char *name);
void __real_rte_mempool_free(struct rte_mempool *mp);
void __wrap_rte_mempool_free(struct rte_mempool *mp);
int __wrap_rte_telemetry_register_cmd(const char *cmd, telemetry_cb fn, const char *help);
int __wrap_hp3_doctor_report(
	const struct hp3_config *cfg, const char *file, enum hp3_check_when when, FILE *out);
int __wrap_hp3_record_start(const struct hp3_record_options *o);
void __wrap_hp3_record_reopen(const struct hp3_record_options *o);
void __real_hp3d_tally_event(struct hp3d_tally *t, const struct hp3_event *event);
void __wrap_hp3d_tally_event(struct hp3d_tally *t, const struct hp3_event *event);

void whole_name(char *buf, size_t cap, const char *name)
{
	snprintf(buf, cap, "%c_%s", whole_host->letter, name);
}

int __wrap_hp3d_eal_init(const struct hp3_config *cfg, unsigned workers, bool quiet)
{
	return 0;
}

unsigned __wrap_rte_get_next_lcore(unsigned i, int skip_main, int wrap)
{
	return i + 1;
}

unsigned __wrap_rte_lcore_to_socket_id(unsigned lcore)
{
	return 0;
}

/* The world has plugged it in. */
int __wrap_rte_dev_probe(const char *devargs)
{
	return 0;
}

int __wrap_rte_eth_dev_start(uint16_t port)
{
	int rc = __real_rte_eth_dev_start(port);

	if (rc == 0)
		whole_host->port(whole_process, port, true);
	return rc;
}

/* The driver knows what it was told; the world, what became of it. */
int __wrap_rte_eth_link_get_nowait(uint16_t port, struct rte_eth_link *link)
{
	int rc = __real_rte_eth_link_get_nowait(port, link);

	if (!whole_host->link(whole_process, port))
		link->link_status = RTE_ETH_LINK_DOWN;
	return rc;
}

int __wrap_rte_eth_dev_close(uint16_t port)
{
	whole_host->port(whole_process, port, false);
	return __real_rte_eth_dev_close(port);
}

struct rte_ring *__wrap_rte_ring_create_elem(
	const char *name, unsigned elem, unsigned count, int socket, unsigned flags)
{
	char text[NAME];

	whole_name(text, sizeof(text), name);
	return whole_got(__real_rte_ring_create_elem(text, elem, count, socket, flags), WHOLE_RING);
}

void __wrap_rte_ring_free(struct rte_ring *r)
{
	whole_gave(r);
	__real_rte_ring_free(r);
}

void *__wrap_rte_malloc_socket(const char *type, size_t size, unsigned align, int socket)
{
	return whole_got(__real_rte_malloc_socket(type, size, align, socket), WHOLE_RTE);
}

void *__wrap_rte_zmalloc_socket(const char *type, size_t size, unsigned align, int socket)
{
	return whole_got(__real_rte_zmalloc_socket(type, size, align, socket), WHOLE_RTE);
}

void __wrap_rte_free(void *mem)
{
	whole_gave(mem);
	__real_rte_free(mem);
}

struct rte_mempool *__wrap_rte_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned private_size, int socket, unsigned flags)
{
	char text[NAME];

	whole_name(text, sizeof(text), name);
	return whole_got(
		__real_rte_mempool_create_empty(text, n, size, cache, private_size, socket, flags),
		WHOLE_POOL);
}

struct rte_mempool *__wrap_rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache,
	uint16_t private_size, uint16_t room, int socket)
{
	char text[NAME];

	whole_name(text, sizeof(text), name);
	return whole_got(__real_rte_pktmbuf_pool_create(text, n, cache, private_size, room, socket),
		WHOLE_POOL);
}

struct rte_mempool *__wrap_rte_mempool_lookup(const char *name)
{
	char text[NAME];

	whole_name(text, sizeof(text), name);
	return __real_rte_mempool_lookup(text);
}

struct rte_mbuf *__wrap_rte_pktmbuf_copy(
	const struct rte_mbuf *m, struct rte_mempool *mp, uint32_t offset, uint32_t length)
{
	struct rte_mbuf *copy = __real_rte_pktmbuf_copy(m, mp, offset, length);

	if (copy != NULL)
		whole_host->copied(whole_process, copy);
	return copy;
}

void __wrap_rte_mempool_free(struct rte_mempool *mp)
{
	whole_gave(mp);
	__real_rte_mempool_free(mp);
}

int __wrap_rte_telemetry_register_cmd(const char *cmd, telemetry_cb fn, const char *help)
{
	return 0;
}

int __wrap_hp3_doctor_report(
	const struct hp3_config *cfg, const char *file, enum hp3_check_when when, FILE *out)
{
	return 0;
}

/* A thread that writes to the journal: it decides nothing. */
int __wrap_hp3_record_start(const struct hp3_record_options *o)
{
	return 0;
}

void __wrap_hp3_record_reopen(const struct hp3_record_options *o)
{
}

void __wrap_hp3d_tally_event(struct hp3d_tally *t, const struct hp3_event *event)
{
	whole_host->event(whole_process, event);
	__real_hp3d_tally_event(t, event);
}

static void add(struct whole_account *a, struct hp3d_pipe *p)
{
	const struct hp3_engine *e = hp3d_pipe_engine(p);
	const struct hp3d_pipe_counters *c = hp3d_pipe_counters(p);
	const struct hp3_stats *s = hp3_engine_stats(e);

#define X(field, help, drop) a->gone += drop ? c->field : 0;
	HP3D_PIPE_COUNTERS(X)
#undef X
	a->held += hp3d_pipe_held(p);
	a->shown += c->shown;
	a->unaccounted += hp3d_pipe_unaccounted(p);
	a->moved += hp3_engine_moved(e);
	a->moves += hp3_engine_moves(e);
	a->delivered += c->delivered;
	a->sprayed += s->sprayed;
	a->sprayed_reads += s->sprayed_reads;
	a->doubts += s->reseq_given_up + s->reseq_beyond + s->reseq_full + s->reseq_share +
		     s->reseq_late;
	a->paced += s->paced;
	if (hp3d_pipe_agent(p) != NULL)
		a->keyed += hp3d_agent_keying_stats(hp3d_pipe_agent(p))->keyed;
}

/* As a call of the control thread does (app/hp3d/lcores/loop.c). */
void whole_qp(const struct hp3_qp_event *event)
{
	struct hp3d_worker *w;

	if (hp3d_lcores.n == 0)
		return;
	w = hp3d_worker(hp3d_worker_of(0, event->ipv6, event->local, event->remote));
	if (w->call.quit)
		return;
	hp3d_pipe_qp(w->pipes[0], event, hp3d_now());
	w->own.due = 0;
	whole_host->kick(whole_process);
}

/* Buffers of that pool; others are hp3d's own packets. */
unsigned whole_in_ring(const struct rte_ring *r, const struct rte_mempool *pool)
{
	struct rte_mbuf *const *m = (struct rte_mbuf *const *)&r[1];
	unsigned n = 0;

	for (uint32_t i = r->cons.tail; i != r->prod.tail; i++)
		n += m[i & r->mask]->pool == pool;
	return n;
}

static unsigned in_link(const struct hp3d_link *l, const struct rte_mempool *pool)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n += l->fifo[(l->head + i) & (l->cap - 1)]->pool == pool;
	return n;
}

/* One rail, or the rails of a bond. */
void whole_account(struct whole_account *a)
{
	const struct rte_mempool *pool = hp3d_rail_ports(0)->pool;

	*a = (struct whole_account){0};
	for (unsigned i = 0; i < hp3d_lcores.n; i++) {
		const struct hp3d_worker *w = &hp3d_lcores.workers[i];

		add(a, w->pipes[0]);
		for (unsigned tag = 0; tag < hp3d_lcores.tags; tag++)
			a->waiting += in_link(&w->out[tag], pool);
		for (unsigned to = 0; hp3d_lcores.n > 1 && to < hp3d_lcores.n; to++)
			a->waiting += whole_in_ring(hp3d_lcores.work[i][to], pool) +
				      whole_in_ring(hp3d_lcores.back[i][to], pool);
	}
}
