/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes, decoded into what applications write to the memory that they share with hp3d
 * in verbs mode (app/verbs/share.h), while hp3d reads it. The pages are protected, so that the
 * application may store something before each single access of hp3d. Each queue pair has a cell
 * in this memory. Half of the cells are written store by store as libhp3verbs.so does: the
 * version is odd during the write. The other half are written arbitrarily. Checks at all times:
 *
 * - from a cell that is written as agreed, hp3d takes the contents of one moment, never parts of
 *   two writes;
 * - hp3d's record of a queue pair is within its ranges, and the same in all of its tables;
 * - hp3d writes only `want`, reads an answer once, and gives up on a cell that changes
 *   continuously after a fixed number of accesses.
 */
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>
#include "app/hp3d/verbs/internal.h"
#include "engine/policy.h"
#include "history.h"
#include "input.h"

#define SHIMS    2u
#define CELLS    16u /* of an application, in its first page */
#define HONEST   8u
#define PAGE     4096u
#define QPNS     48u
#define FLOWS    24u
#define PAIRS    16u
#define ACCESSES 700u /* of one cell in a call */
#define TRAP     0x100 /* trap flag of x86 */
#define WRITES   2 /* page fault: of a store */

struct hp3d_pipe {
	struct hp3_engine *e;
	struct hp3_acts acts;
};

/* One that is written as agreed. */
struct writer {
	uint32_t qpn, at; /* the next store; 0: none is under way */
	uint8_t state;
};

static struct hp3d_pipe pipe_of_all;
static struct hp3d_verbs_mode b;
static struct writer writers[SHIMS][HONEST];
static uint32_t accesses[SHIMS][CELLS], numbers;
static uint64_t now;
static struct sigaction before;
static bool watched;
static unsigned touched; /* whose page is open for one access */

static uint64_t read_clock(void)
{
	return now;
}

/* --- what hp3d's pipe is here: the engine --- */

static void carry_out(struct hp3d_pipe *p)
{
	for (uint32_t i = 0; i < p->acts.n; i++) {
		uint8_t kind = p->acts.act[i].kind;

		if (kind == HP3_ACT_SUSPEND || kind == HP3_ACT_MOVE || kind == HP3_ACT_RESUME)
			hp3d_verbs_act(&b, &p->acts.act[i]);
	}
	p->acts.n = 0;
}

struct hp3_engine *hp3d_pipe_engine(struct hp3d_pipe *p)
{
	return p->e;
}

int hp3d_pipe_qp(struct hp3d_pipe *p, const struct hp3_qp_event *event, uint64_t t)
{
	int ret = hp3_qp(p->e, event, t, &p->acts);

	carry_out(p);
	return ret;
}

int hp3d_pipe_completions(
	struct hp3d_pipe *p, uint32_t flow, const struct hp3_completions *completions, uint64_t t)
{
	int ret = hp3_completions(p->e, flow, completions, t, &p->acts);

	carry_out(p);
	return ret;
}

int hp3d_pipe_actuated(struct hp3d_pipe *p, uint32_t flow, struct hp3_actuated what, uint64_t t)
{
	int ret = hp3_actuator(p->e, flow, what, t, &p->acts);

	carry_out(p);
	return ret;
}

int hp3d_pipe_command(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t t)
{
	int ret = hp3_command(p->e, cmd, t, &p->acts);

	carry_out(p);
	return ret;
}

void hp3d_pipe_place(struct hp3d_pipe *p, uint32_t flow, uint64_t t)
{
	hp3_qp_place(p->e, flow, t, &p->acts);
	carry_out(p);
}

void hp3d_ud_pair_ended(struct hp3d_ud *u, const struct hp3_ends *ends)
{
}

void hp3d_ud_meet(struct hp3d_ud *u, const struct hp3_ends *ends, uint8_t tclass, uint64_t t)
{
}

uint32_t hp3d_ud_ports(
	struct hp3d_ud *u, bool ipv6, const uint8_t *local, const uint16_t **ports, uint64_t t)
{
	static const uint16_t some[] = {0xc000, 0xc001, 0xc002};

	*ports = some;
	return ipv6 ? 0 : 3;
}

/* --- what applications do --- */

static struct hp3_verbs_cell *cell_of(unsigned shim, uint32_t i)
{
	return &b.shims[shim].cells[i];
}

/* One store of a queue pair that comes (`state` RTS) or goes; all of it follows from its number. */
static void store(unsigned shim, uint32_t i)
{
	struct writer *w = &writers[shim][i];
	struct hp3_verbs_cell *c = cell_of(shim, i);
	const uint32_t n = w->qpn;

	switch (w->at++) {
	case 1:
		c->version |= 1u;
		break;
	case 2:
		c->generation = n;
		break;
	case 3:
		c->qpn = n;
		break;
	case 4:
		c->dest_qpn = n + QPNS;
		break;
	case 5:
		memcpy(c->sgid, (uint8_t[16]){[10] = 0xff, 0xff, 10, 9, 0, 1}, 16);
		break;
	case 6:
		memcpy(c->dgid, (uint8_t[16]){[10] = 0xff, 0xff, 10, 9, 1, (uint8_t)n}, 16);
		break;
	case 7:
		c->state = w->state;
		c->method = HP3_VERBS_SQD;
		break;
	default:
		c->version++;
		w->at = 0;
	}
}

static void begin(unsigned shim, uint32_t i, uint8_t how)
{
	struct writer *w = &writers[shim][i];

	if (w->at != 0)
		return;
	w->at = 1;
	w->qpn = ++numbers % QPNS + 1;
	w->state = how & 3 ? HP3_VERBS_RTS : HP3_VERBS_FREE;
}

/* A store anywhere in a cell: into those that are written as agreed only what needs no version. */
static void store_anything(unsigned shim, uint32_t i)
{
	static const uint8_t places[] = {offsetof(struct hp3_verbs_cell, version),
		offsetof(struct hp3_verbs_cell, generation), offsetof(struct hp3_verbs_cell, qpn),
		offsetof(struct hp3_verbs_cell, dest_qpn), offsetof(struct hp3_verbs_cell, state),
		offsetof(struct hp3_verbs_cell, sgid) + 12,
		offsetof(struct hp3_verbs_cell, dgid) + 12, offsetof(struct hp3_verbs_cell, want),
		offsetof(struct hp3_verbs_cell, did)};
	uint8_t *at = (uint8_t *)cell_of(shim, i), where = u8(), value = u8();
	uint32_t from = where < 0xc0 ? places[where % sizeof(places)] : u8();

	if (i < HONEST)
		from = offsetof(struct hp3_verbs_cell, posted_wrs) + from % 120;
	at[from] = value;
}

/* As the library does, or with something else. */
static void answer(unsigned shim, uint32_t i)
{
	struct hp3_verbs_cell *c = cell_of(shim, i);
	uint64_t want = c->want;
	uint8_t how = u8();
	uint32_t seq = hp3_verbs_unpack_seq(want) + (how > 0xf0);

	c->did = hp3_verbs_pack(
		hp3_verbs_unpack_generation(want), (uint16_t)seq, 1 + how % 5, how >> 4);
}

static void something_happens(unsigned shim, uint32_t i)
{
	uint8_t what = u8();

	if (what < 0x60)
		return;
	if (i < HONEST && what < 0xe0) {
		begin(shim, i, what);
		for (uint32_t n = what % 10; n > 0 && writers[shim][i].at != 0; n--)
			store(shim, i);
	} else if (what < 0xf0) {
		store_anything(shim, i);
	} else {
		answer(shim, i);
	}
}

/* --- single accesses of hp3d's --- */

static void protect(unsigned shim, bool on)
{
#ifdef __x86_64__
	MUST(mprotect(b.shims[shim].cells, PAGE, on ? PROT_NONE : PROT_READ | PROT_WRITE) == 0);
#endif
}

static void watch(bool on)
{
	watched = on;
	for (unsigned s = 0; s < SHIMS; s++)
		protect(s, on);
}

#ifdef __x86_64__
static void on_access(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	const uint8_t *at = info->si_addr;

	for (unsigned s = 0; s < SHIMS && watched; s++) {
		const uint8_t *from = (const uint8_t *)b.shims[s].cells;
		uint32_t i = (uint32_t)(at - from) / sizeof(struct hp3_verbs_cell);

		if (at < from || at >= from + PAGE)
			continue;
		protect(s, false);
		touched = s;
		MUST(++accesses[s][i] <= ACCESSES);
		if (u->uc_mcontext.gregs[REG_ERR] & WRITES)
			MUST((at - from) % sizeof(struct hp3_verbs_cell) ==
				offsetof(struct hp3_verbs_cell, want));
		something_happens(s, i);
		u->uc_mcontext.gregs[REG_EFL] |= TRAP;
		return;
	}
	sigaction(SIGSEGV, &before, NULL); /* a fault like any other */
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
	protect(touched, true);
}

static void watch_accesses(void)
{
	struct sigaction access = {.sa_sigaction = on_access, .sa_flags = SA_SIGINFO},
			 step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	MUST(sigaction(SIGSEGV, &access, &before) == 0 && sigaction(SIGTRAP, &step, NULL) == 0);
}
#else
static void watch_accesses(void) /* the input changes the memory between calls alone */
{
}
#endif

/* --- what must hold --- */

static void check_known(unsigned shim, uint32_t i)
{
	const struct hp3d_verbs_shim *s = &b.shims[shim];
	const struct hp3d_verbs_cell_state *k = &s->known[i];
	struct hp3_flow_info f;

	MUST(k->at < s->n_active && s->active[k->at] == i);
	MUST(k->flow < FLOWS && b.owners[k->flow].shim == shim + 1 && b.owners[k->flow].cell == i);
	MUST(k->qp.lqpn != 0 && k->qp.lqpn <= HP3_QPN_MASK && k->qp.rqpn <= HP3_QPN_MASK);
	MUST(hp3_flow_info(b.pipe->e, k->flow, now, &f) == 0 && f.rqpn == k->qp.rqpn);
	MUST(hp3d_claims_has(&b.claims, &k->qp));
	if (i >= HONEST)
		return;
	MUST(k->generation == k->qp.lqpn && k->qp.rqpn == k->qp.lqpn + QPNS);
	MUST(memcmp(k->qp.local, (uint8_t[4]){10, 9, 0, 1}, 4) == 0);
	MUST(memcmp(k->qp.remote, (uint8_t[4]){10, 9, 1, (uint8_t)k->qp.lqpn}, 4) == 0);
}

static void check(void)
{
	uint32_t n, all = 0;

	for (unsigned s = 0; s < SHIMS; s++) {
		n = 0;
		for (uint32_t i = 0; i < CELLS; i++)
			if (b.shims[s].known[i].flow != HP3_NO_FLOW) {
				check_known(s, i);
				n++;
			}
		MUST(n == b.shims[s].n_active);
		all += n;
	}
	MUST(all == b.c.qps && all == b.claims.n);
}

static void check_copy(unsigned shim, uint32_t i)
{
	struct hp3_verbs_cell c;

	if (!hp3d_verbs_copy_cell(cell_of(shim, i), &c) || i >= HONEST || c.state == HP3_VERBS_FREE)
		return;
	MUST(c.generation == c.qpn && c.dest_qpn == c.qpn + QPNS && c.dgid[15] == c.qpn);
}

static void tick(void)
{
	now += 1ull << u8() % 30;
	do {
		hp3_tick(b.pipe->e, now, &b.pipe->acts);
		carry_out(b.pipe);
	} while (b.pipe->acts.more);
}

static void move(void)
{
	struct hp3_cmd cmd = {.kind = u8() % 4 ? HP3_CMD_MOVE : HP3_CMD_CANCEL,
		.cause = HP3_CAUSE_OPERATOR,
		.flow = hp3_flow_next(b.pipe->e, u8() % FLOWS)};

	if (cmd.flow != HP3_NO_FLOW)
		hp3d_pipe_command(b.pipe, &cmd, now);
}

static void step(void)
{
	uint8_t op = u8(), i = op & (CELLS - 1);
	unsigned shim = u8() & 1;

	memset(accesses, 0, sizeof(accesses));
	something_happens(shim, i);
	watch(true);
	if (op < 0x50) {
		hp3d_verbs_scan(&b, shim, now);
	} else if (op < 0x80) {
		hp3d_verbs_sample(&b, shim, now);
	} else if (op < 0xa0) {
		hp3d_verbs_check_report(&b, shim, i, now);
		MUST(accesses[shim][i] <= 2); /* it, and what is wanted next */
	} else if (op < 0xb0) {
		hp3d_verbs_check_reports(&b, shim, now);
	} else if (op < 0xc0) {
		check_copy(shim, i);
	} else if (op < 0xd8) {
		tick();
	} else if (op < 0xf0) {
		move();
	} else if (op < 0xf8) {
		hp3d_verbs_ask_peers(&b, shim, now);
	} else {
		hp3d_verbs_forget(&b, shim, now);
	}
	watch(false);
	check();
}

static void make_engine(bool asks)
{
	struct hp3_engine_config cfg;
	size_t size;

	hp3_policy_defaults(&cfg);
	cfg.max_flows = FLOWS;
	cfg.max_pairs = PAIRS;
	cfg.max_moves = 4;
	cfg.verbs = true;
	cfg.spray.mode = HP3_SPRAY_MOVE; /* as in app/hp3d/pipe/setup.c */
	cfg = hp3_policy_settled(&cfg);
	size = hp3_engine_size(&cfg);
	pipe_of_all.e = hp3_engine_create(aligned_alloc(64, (size + 63) / 64 * 64), size, &cfg);
	MUST(pipe_of_all.e != NULL);
	b.ud = asks ? (struct hp3d_ud *)&b : NULL;
}

/* Memory that stays: it is large. */
static void make_shims(void)
{
	for (unsigned s = 0; s < SHIMS; s++) {
		b.shims[s].fd = b.shims[s].bell = -1;
		b.shims[s].uid = 1000 + s; /* no operator: a share is asked for */
		b.shims[s].cells = mmap(NULL, HP3D_VERBS_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		b.shims[s].known = calloc(HP3_VERBS_CELLS, sizeof(struct hp3d_verbs_cell_state));
		MUST(b.shims[s].cells != MAP_FAILED && b.shims[s].known != NULL);
		for (uint32_t i = 0; i < HP3_VERBS_CELLS; i++)
			b.shims[s].known[i].flow = HP3_NO_FLOW;
	}
	b.pipe = &pipe_of_all;
	b.clock = read_clock;
	b.max_flows = FLOWS;
	b.max_pairs = PAIRS;
	b.owners = calloc(FLOWS, sizeof(*b.owners));
	b.pairs = calloc(PAIRS, sizeof(*b.pairs));
	MUST(b.owners != NULL && b.pairs != NULL && hp3d_claims_open(&b.claims, FLOWS, 7) == 0 &&
		hp3d_pair_users_open(&b.pair_users, FLOWS, 7) == 0);
	watch_accesses();
}

static void start(uint8_t how)
{
	if (b.pipe == NULL)
		make_shims();
	make_engine(how & 1);
	now = 1000000000;
	numbers = how;
	memset(writers, 0, sizeof(writers));
	for (unsigned s = 0; s < SHIMS; s++) {
		memset(b.shims[s].cells, 0, PAGE);
		b.shims[s].next_cell = b.shims[s].next_sample = b.shims[s].n_asked = 0;
		for (uint32_t i = 0; i < CELLS; i++)
			b.shims[s].known[i] = (struct hp3d_verbs_cell_state){.flow = HP3_NO_FLOW};
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	in = data;
	end = data + size;
	start(u8());
	while (in < end)
		step();
	for (unsigned s = 0; s < SHIMS; s++)
		hp3d_verbs_forget(&b, s, now);
	check();
	MUST(b.c.qps == 0);
	for (unsigned s = 0; s < SHIMS; s++)
		MUST(hp3d_pair_users_count(&b.pair_users, b.shims[s].uid) == 0);
	free(pipe_of_all.e);
	return 0;
}
