/* SPDX-License-Identifier: BSD-3-Clause */
/* When each application is served. */
#include "app/hp3d/verbs/verbs_mode.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/hp3d/ud/socket.h"
#include "app/hp3d/verbs/internal.h"
#include "base/minmax.h"
#include "base/plain.h"

#define HELLO_NS     1000000000ull /* longest wait for a hello */
#define RESCAN_NS    1000000u /* between two scans of an application */
#define RESCAN_QP_NS 5000u /* more per cell that the last scan copied: a copy takes 0.1 us */
#define WAIT_NS      10000000u /* between two checks whether privileges are final */
#define EVENTS       64
#define SLACK_US                                                                                   \
	10000u /* hp3d's time-out of a suspended queue pair ends before the application's */
#define PLACE_US  5000u /* an application's wait for a path at the set-up of a queue pair */
#define LONGEST   1000000u /* longest wait of an application in any case */
#define LISTENER  UINT32_MAX
#define DATAGRAMS (UINT32_MAX - 1u)
#define COPIES    0x40000000u
#define BELL      0x80000000u

static struct hp3_verbs_welcome make_welcome(
	const struct hp3d_verbs_mode *b, const struct hp3_config *cfg)
{
	uint64_t drain = cfg->engine.close_timeout_ns / 1000u;
	uint64_t hold = cfg->engine.max_hold_ns / 1000u + SLACK_US;

	return (struct hp3_verbs_welcome){.magic = HP3_VERBS_MAGIC,
		.version = HP3_VERBS_VERSION,
		.accepted = 1,
		.drain_us = (uint32_t)hp3_min_u64(drain, LONGEST),
		.hold_us = (uint32_t)hp3_min_u64(hold, LONGEST),
		.place_us = b->ud != NULL && cfg->engine.setup_probing ? PLACE_US : 0};
}

static int open_copies(struct hp3d_verbs_mode *b, const struct hp3_config *cfg)
{
	int rc = hp3d_copies_open(&b->copies, cfg->verbs.copies);

	for (uint32_t i = 0; rc == 0 && i < b->copies.n; i++)
		rc = hp3d_epoll_add(b->epoll, hp3d_copies_fd(&b->copies, i), EPOLLIN, COPIES | i);
	return rc;
}

/* Opens raw sockets while hp3d has the privilege. Without them, hp3d identifies paths by their
 * ports, as if switches did not answer traces. */
static void open_traces(struct hp3d_verbs_mode *b)
{
	if (hp3d_ud_traces_open(&b->traces) < 0)
		fprintf(stderr,
			"hp3d: [ppp] identity = trace: no raw socket, so switches are not asked: "
			"%s; give hp3d CAP_NET_RAW, or set identity = port\n",
			strerror(errno));
}

void hp3d_verbs_reconfigure(struct hp3d_verbs_mode *b, const struct hp3_config *cfg)
{
	b->welcome = make_welcome(b, cfg);
	b->poll_ns = cfg->verbs.poll_us * 1000ull;
}

static void free_tables(struct hp3d_verbs_mode *b)
{
	hp3d_counts_close(&b->claims.table);
	hp3d_counts_close(&b->pair_users.qps);
	free(b->owners);
	free(b->pairs);
}

static int make_tables(struct hp3d_verbs_mode *b, const struct hp3_engine_config *ec)
{
	b->owners = calloc(ec->max_flows, sizeof(*b->owners));
	b->pairs = calloc(ec->max_pairs, sizeof(*b->pairs));
	if (b->owners == NULL || b->pairs == NULL ||
		hp3d_claims_open(&b->claims, ec->max_flows, ec->hash_seed) < 0 ||
		hp3d_pair_users_open(&b->pair_users, ec->max_flows, ec->hash_seed) < 0) {
		free_tables(b);
		return -ENOMEM;
	}
	return 0;
}

struct hp3d_verbs_mode *hp3d_verbs_open(
	const struct hp3_config *cfg, struct hp3d_pipe *p, uint64_t (*clock)(void))
{
	struct hp3d_verbs_mode *b = calloc(1, sizeof(*b));

	if (b == NULL || make_tables(b, &cfg->engine) < 0) {
		fprintf(stderr, "hp3d: no memory for [verbs]; lower [flows] max_flows\n");
		free(b);
		return NULL;
	}
	b->pipe = p;
	b->clock = clock;
	b->max_flows = cfg->engine.max_flows;
	b->max_pairs = cfg->engine.max_pairs;
	b->socket.fd = b->socket.lock = -1;
	b->traces = (struct hp3d_ud_traces)HP3D_UD_NO_TRACES;
	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++)
		b->shims[i].fd = b->shims[i].bell = -1;
	b->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (hp3d_verbs_listen(b, cfg) < 0 || b->epoll < 0 ||
		hp3d_epoll_add(b->epoll, b->socket.fd, EPOLLIN, LISTENER) < 0 ||
		open_copies(b, cfg) < 0) {
		hp3d_verbs_close(b);
		return NULL;
	}
	if (cfg->engine.trace && cfg->verbs.ibverbs[0] != '\0')
		open_traces(b);
	hp3d_pipe_on_actuate(p, hp3d_verbs_act, b);
	b->cfg = cfg;
	hp3d_pipe_mute(p, cfg, true);
	hp3d_verbs_reconfigure(b, cfg);
	return b;
}

void hp3d_verbs_close(struct hp3d_verbs_mode *b)
{
	if (b == NULL)
		return;
	hp3d_pipe_on_actuate(b->pipe, NULL, NULL);
	hp3d_ud_close(b->ud);
	hp3d_ud_traces_close(&b->traces);
	hp3d_port_news_close(&b->news);
	hp3d_copies_close(&b->copies);
	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++)
		if (b->shims[i].fd >= 0)
			hp3d_verbs_release(&b->shims[i]);
	hp3d_control_unlisten(&b->socket);
	hp3d_control_release(&b->socket);
	if (b->epoll >= 0)
		close(b->epoll);
	free_tables(b);
	free(b);
}

int hp3d_verbs_fd(const struct hp3d_verbs_mode *b)
{
	return b->epoll;
}

void hp3d_verbs_watch(struct hp3d_verbs_mode *b, uint64_t now)
{
	if (!b->settled) {
		hp3d_port_news_open(&b->news, b->cfg->metrics.sysfs);
		__atomic_store_n(&b->settled, true, __ATOMIC_RELEASE);
	}
	hp3d_port_news_read(&b->news, now);
}

/*
 * Called on the lcore when hp3d's privileges are final: the kernel refuses verbs calls of a process
 * whose credentials have changed since it opened the RNIC (ib_safe_file_access()).
 */
static void open_datagrams(struct hp3d_verbs_mode *b, uint64_t now)
{
	b->asked = true;
	b->ud = hp3d_ud_open(b->cfg, b->pipe, &b->traces);
	if (b->ud != NULL && hp3d_epoll_add(b->epoll, hp3d_ud_fd(b->ud), EPOLLIN, DATAGRAMS) < 0) {
		hp3d_ud_close(b->ud);
		b->ud = NULL;
	}
	if (b->ud == NULL)
		return;
	hp3d_pipe_mute(b->pipe, b->cfg, false);
	hp3d_verbs_reconfigure(b, b->cfg);
	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++)
		hp3d_verbs_ask_peers(b, i, now);
}

static void part_shim(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	hp3d_verbs_forget(b, shim, now);
	if (b->shims[shim].cells != NULL)
		hp3d_verbs_set_counter(&b->c.shims, b->c.shims - 1);
	/* The application may keep the bell open, so closing hp3d's descriptor does not end the
	 * poll. */
	if (b->shims[shim].bell >= 0)
		epoll_ctl(b->epoll, EPOLL_CTL_DEL, b->shims[shim].bell, NULL);
	hp3d_verbs_release(&b->shims[shim]);
}

static void refuse_shim(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	hp3d_verbs_set_counter(&b->c.refused_hello, b->c.refused_hello + 1);
	part_shim(b, shim, now);
}

static void accept_one(struct hp3d_verbs_mode *b, uint64_t now)
{
	bool occupied = false;
	pid_t pid;
	uid_t uid;
	int fd = hp3d_verbs_accept(b, &pid, &uid), i;

	if (fd < 0)
		return;
	i = hp3d_verbs_closing_too_many() ? -1 : hp3d_verbs_find_place(b, uid, &occupied);
	if (i < 0 || hp3d_epoll_add(b->epoll, fd, EPOLLIN | EPOLLRDHUP, (uint32_t)i) < 0) {
		hp3d_verbs_set_counter(&b->c.refused_full, b->c.refused_full + 1);
		close(fd);
		return;
	}
	if (occupied) {
		hp3d_verbs_set_counter(&b->c.displaced, b->c.displaced + 1);
		part_shim(b, (unsigned)i, now);
	}
	b->shims[i].fd = fd;
	b->shims[i].pid = pid;
	b->shims[i].uid = uid;
	b->shims[i].since = now;
	b->due = 0;
}

static void greet_shim(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	int rc = hp3d_verbs_take_hello(s, &b->welcome);

	if (rc == -EAGAIN)
		return;
	if (s->cells != NULL)
		hp3d_verbs_set_counter(&b->c.shims, b->c.shims + 1);
	/* hp3d never reads the bell: with edge triggering, each write is an event. */
	if (rc < 0 || hp3d_epoll_add(b->epoll, s->bell, EPOLLIN | EPOLLET, shim | BELL) < 0) {
		refuse_shim(b, shim, now);
		return;
	}
	hp3d_verbs_set_counter(&b->c.connected, b->c.connected + 1);
	s->rung = true;
}

/* No message follows the hello. So if the socket is readable, the connection ends. */
static void serve_shim(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	char more;

	if (b->shims[shim].fd < 0)
		return;
	if (b->shims[shim].cells == NULL)
		greet_shim(b, shim, now);
	else if (recv(b->shims[shim].fd, &more, sizeof(more), MSG_DONTWAIT) >= 0 || errno != EAGAIN)
		part_shim(b, shim, now);
}

/* Bounds the rate of scans for an application that rings all the time. */
static void look_if_rung(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];

	if (s->cells == NULL || !s->rung ||
		now - s->scanned < RESCAN_NS + (uint64_t)s->looked * RESCAN_QP_NS)
		return;
	hp3d_verbs_scan(b, shim, now);
	hp3d_verbs_sample(b, shim, now);
}

static void answer_bell(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];

	if (s->cells == NULL)
		return;
	s->rung = true;
	hp3d_verbs_check_reports(b, shim, now);
	look_if_rung(b, shim, now);
}

static void see_copy(void *ctx, const uint8_t *frame, uint32_t len)
{
	struct hp3d_verbs_mode *b = ctx;

	hp3d_verbs_set_counter(&b->c.copies, b->c.copies + 1);
	hp3d_pipe_copy(b->pipe, frame, len, b->now);
}

unsigned hp3d_verbs_poll(struct hp3d_verbs_mode *b, uint64_t now)
{
	unsigned served = 0; /* connections not served now are still readable at the next poll */
	struct epoll_event event[EVENTS];
	int n = epoll_wait(b->epoll, event, EVENTS, 0);

	b->now = now;
	for (int i = 0; i < n; i++) {
		uint32_t what = event[i].data.u32;

		if (what == LISTENER)
			accept_one(b, now);
		else if (what == DATAGRAMS)
			hp3d_ud_poll(b->ud, now);
		else if (what & BELL)
			answer_bell(b, what & ~BELL, now);
		else if (what & COPIES)
			hp3d_copies_take(&b->copies, what & ~COPIES, see_copy, b);
		else if (served++ < HP3D_VERBS_SERVED)
			serve_shim(b, what, now);
	}
	return n > 0 ? (unsigned)n : 0;
}

uint64_t hp3d_verbs_tick(struct hp3d_verbs_mode *b, uint64_t now)
{
	bool any = false;

	if (!b->asked && __atomic_load_n(&b->settled, __ATOMIC_ACQUIRE))
		open_datagrams(b, now);
	if (now < b->due)
		return b->due;
	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++) {
		struct hp3d_verbs_shim *s = &b->shims[i];

		if (s->fd < 0)
			continue;
		if (s->cells == NULL && now - s->since >= HELLO_NS)
			refuse_shim(b, i, now);
		else if (s->cells != NULL)
			hp3d_verbs_sample(b, i, now);
		look_if_rung(b, i, now);
		any |= s->fd >= 0;
	}
	b->due = any ? now + b->poll_ns : UINT64_MAX;
	if (b->ud != NULL)
		b->due = hp3_min_u64(b->due, hp3d_ud_tick(b->ud, now));
	else if (!b->asked)
		b->due = hp3_min_u64(b->due, now + WAIT_NS);
	return b->due;
}

bool hp3d_verbs_read_qp(
	const struct hp3d_verbs_mode *b, uint32_t index, uint64_t now, struct hp3d_verbs_qp *qp)
{
	const struct hp3d_verbs_shim *s = &b->shims[index / HP3_VERBS_CELLS];
	const struct hp3d_verbs_cell_state *k;

	if (s->cells == NULL)
		return false;
	k = &s->known[index % HP3_VERBS_CELLS];
	if (k->flow == HP3_NO_FLOW ||
		!hp3d_verbs_copy_cell(&s->cells[index % HP3_VERBS_CELLS], &qp->cell) ||
		hp3_flow_info(hp3d_pipe_engine(b->pipe), k->flow, now, &qp->flow) < 0)
		return false;
	qp->cell.device[HP3_VERBS_DEVICE - 1u] = '\0';
	hp3_plain(qp->cell.device);
	qp->pid = (uint32_t)s->pid;
	memcpy(qp->comm, s->comm, sizeof(qp->comm));
	qp->rate = k->rate;
	qp->least_ns = hp3_least_of(&k->least, qp->cell.latency_queued);
	qp->failed = k->failed;
	return true;
}

const struct hp3d_verbs_counters *hp3d_verbs_counters(const struct hp3d_verbs_mode *b)
{
	return &b->c;
}

const struct hp3d_ud_counters *hp3d_verbs_ud_counters(const struct hp3d_verbs_mode *b)
{
	return b->ud != NULL ? hp3d_ud_counters(b->ud) : NULL;
}
