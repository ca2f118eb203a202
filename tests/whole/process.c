/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of an hp3d, a module loaded for it alone. */
#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/whole/sim.h"

/* By how much its clock is ahead of the simulation's. */
static uint64_t ahead(const struct process *p)
{
	return p->host == 1 ? p->sim->ahead : 0;
}

static uint64_t now(void *p)
{
	return ((struct process *)p)->sim->now + ahead(p);
}

static uint64_t wall(void *arg)
{
	struct process *p = arg;

	return 1790000000ull * 1000 * MS + (p->sim->now - p->sim->began) + (uint64_t)p->wall_off;
}

static bool asleep(void *p, uint64_t until)
{
	return fiber_sleep(p, until == UINT64_MAX ? until : until - ahead(p));
}

static bool interrupted(void *arg)
{
	struct process *p = arg;
	bool was = p->interrupted;

	p->interrupted = false;
	return was;
}

static void kick(void *p)
{
	fiber_kick(p, true);
}

static uint64_t randomness(void *p)
{
	return hp3_random(&((struct process *)p)->rng);
}

static void launch(void *arg, int (*fn)(void *arg), void *what)
{
	struct process *p = arg;
	unsigned i = 1;

	while (p->fibers[i] != NULL)
		i++;
	p->fibers[i] = fiber_start(p, fn, what);
}

static void join(void *p)
{
	fiber_join(p);
}

static void on_signal(void *arg, int sig, void (*fn)(int sig))
{
	((struct process *)arg)->handler[sig] = fn == SIG_IGN ? NULL : fn;
}

static void event(void *arg, const struct hp3_event *event)
{
	struct process *p = arg;

	rnics_event(p->sim, p->host, event);
}

/* A file of its own: what is loaded from one file is one module. */
static void *load(struct process *p)
{
	char path[160];
	int from = open(p->sim->module_path, O_RDONLY | O_CLOEXEC), to;
	struct stat st;
	void *module;

	snprintf(path, sizeof(path), "%s/%u.so", p->dir, p->starts);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (from < 0 || to < 0 || fstat(from, &st) < 0 ||
		sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size) {
		fprintf(stderr, "cannot copy %s to %s\n", p->sim->module_path, path);
		abort();
	}
	close(from);
	close(to);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (module == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	if (getenv("HP3_WHOLE_LOG") == NULL) /* a debugger wants it */
		unlink(path);
	return module;
}

static int run_main(void *arg)
{
	struct process *p = arg;
	char name[] = "hp3d", option[] = "--config", *argv[] = {name, option, p->file, NULL};

	optind = 0;
	return p->main(3, argv);
}

void process_start(struct process *p)
{
	p->starts++;
	p->rng = p->sim->seed * 1000 + p->host * 500 + p->starts;
	p->calls = (struct whole_host){now, wall, asleep, interrupted, kick, randomness, launch,
		join, on_signal, ports_changed, ports_link, event, ports_copied,
		(char)('a' + p->host)};
	p->module = load(p);
	p->main = (whole_main_fn *)dlsym(p->module, "hp3d_main");
	p->account = (whole_account_fn *)dlsym(p->module, "whole_account");
	p->in_ring = (whole_in_ring_fn *)dlsym(p->module, "whole_in_ring");
	p->qp = (whole_qp_fn *)dlsym(p->module, "whole_qp");
	p->alloc = (whole_alloc_fn *)dlsym(p->module, "whole_alloc");
	p->free = (whole_free_fn *)dlsym(p->module, "whole_free");
	p->reap = (whole_reap_fn *)dlsym(p->module, "whole_reap");
	((whole_bind_fn *)dlsym(p->module, "whole_bind"))(&p->calls, p);
	p->state = ALIVE;
	p->interrupted = false;
	p->frozen_until = 0;
	p->got = p->put = 0;
	p->seen = (struct whole_account){0};
	memset(p->handler, 0, sizeof(p->handler));
	ports_plug(p);
	p->fibers[0] = fiber_start(p, run_main, p);
}

void process_kill(struct process *p)
{
	if (p->state == GONE)
		return;
	for (unsigned i = 0; i < FIBERS; i++) {
		fiber_kill(p->fibers[i]);
		p->fibers[i] = NULL;
	}
	p->sim->r.sprayed += p->seen.sprayed;
	p->sim->r.sprayed_reads += p->seen.sprayed_reads;
	p->sim->r.delivered += p->seen.delivered;
	p->sim->r.shown += p->seen.shown;
	p->sim->r.doubts += p->seen.doubts;
	p->sim->r.paced += p->seen.paced;
	p->sim->r.keyed += p->seen.keyed;
	ports_unplug(p);
	clients_close(p);
	p->state = GONE;
	p->closing = false;
	p->reap();
	dlclose(p->module);
	p->module = NULL;
}

void process_ended(struct process *p)
{
	if (p->state != ENDED)
		WRONG(p->sim, "hp3d %c does not end", p->calls.letter);
	else if (p->code != 0)
		WRONG(p->sim, "hp3d %c ends with code %d", p->calls.letter, p->code);
}

/* The handler of the main thread, which sleeps. */
void process_signal(struct process *p, int sig)
{
	if (p->state != ALIVE || p->handler[sig] == NULL)
		return;
	p->handler[sig](sig);
	p->interrupted = true;
	fiber_kick(p, false);
}

/* Before what it let go is seen: has it given up some order? */
static void look_for_doubts(struct process *p)
{
	struct whole_account a;

	if (!p->sim->spray || !ports_started(p))
		return;
	p->account(&a);
	if (a.doubts != p->seen.doubts)
		rnics_doubt(p->sim, p->host, 0);
	p->seen = a;
}

void process_paused(struct process *p)
{
	if (p->state == ALIVE) {
		look_for_doubts(p);
		ports_drain(p);
	}
	clients_read(p);
	if (p->state == ALIVE)
		process_check(p);
}

/* Nothing is in anybody's hands when all threads sleep. */
void process_check(struct process *p)
{
	struct whole_account a;
	uint64_t polled = p->got, out;

	if (!ports_started(p))
		return;
	for (enum side side = RNIC; side < sim_sides(p->sim); side++)
		polled -= rte_ring_count(p->in[side]);
	p->account(&a);
	p->seen = a;
	out = p->put;
	for (enum side side = RNIC; side < sim_sides(p->sim); side++)
		out += p->in_ring(p->out[side], p->pool);
	if (a.unaccounted != 0)
		WRONG(p->sim, "hp3d %c: %lld packets unaccounted for", p->calls.letter,
			(long long)a.unaccounted);
	if (polled + a.shown != out + a.gone + a.held + a.waiting)
		WRONG(p->sim,
			"hp3d %c: %llu frames in, %llu copies, %llu out, %llu not forwarded, %llu "
			"held, %llu wait",
			p->calls.letter, (unsigned long long)polled, (unsigned long long)a.shown,
			(unsigned long long)out, (unsigned long long)a.gone,
			(unsigned long long)a.held, (unsigned long long)a.waiting);
}

/* The file that it reads when it starts, and at SIGHUP. What may be reloaded changes by the seed.
 */
void process_configure(struct process *p, const char *mode, bool sound)
{
	struct sim *s = p->sim;
	char c = (char)('a' + p->host);
	FILE *f = fopen(p->file, "w");
	static const char *const keys[] = {
		"00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"};
	unsigned key = s->spray || s->seed % 2, which = s->spray && draw(s, 4) == 0,
		 hold_us = 2000 + draw(s, 4) * 1000;
	const char *first = keys[which], *second = s->spray ? keys[!which] : "";

	if (f == NULL)
		abort();
	fprintf(f,
		"[eal]\nmemory_mb = 64\nlcores = %u\nspread = software\nmbufs = 1024\n"
		"mbuf_bytes = 2304\nburst = %u\nidle_sleep_us = 100\n",
		1 + (unsigned)(s->seed / 2 % 3 == 0), 8u << s->seed % 3);
	fprintf(f, "[rail.%c]\nrnic = \"net_ring_%c0\"\nnet = \"net_ring_%c1\"\n", c, c, c);
	if (s->bond)
		fprintf(f,
			"[rail.%c2]\nrnic = \"net_ring_%c2\"\nnet = \"net_ring_%c3\"\n"
			"[bond.bond]\nrails = \"%c, %c2\"\n",
			c, c, c, c, c);
	fprintf(f, "[watch]\nverbs = off\n[metrics]\nsocket = off\n[log]\naudit = off\n"
		   "[service]\ncapabilities = keep\n");
	fprintf(f, "state = \"%s/state\"\n", p->dir);
	fprintf(f,
		"[control]\nsocket = \"%s/hp3.sock\"\nmoved = \"%s/moved\"\nstop_drain_ms = 50\n",
		p->dir, p->dir);
	fprintf(f, "[flows]\nmax_flows = 256\nmax_pairs = 64\n");
	fprintf(f, "[probes]\nclock_s = 5\nanswers_per_second = 2000\n");
	if (s->spray && sim_keys_change(s->seed)) {
		uint32_t kind = draw(s, 8);

		first = kind == 0 ? "" : keys[kind & 1];
		second = kind < 4 ? "" : keys[!(kind & 1)];
		fprintf(f, "probe_key_wait_s = 0\n");
	}
	if (!key && s->seed / 2 % 2) /* else they agree on keys */
		fprintf(f, "keys = off\n");
	if (key)
		fprintf(f, "probe_key = \"%s\"\nprobe_key_old = \"%s\"\n", first, second);
	fprintf(f, "[policy]\nmode = %s\nstudy = on\n[bypass]\ncarry_link = on\n", mode);
	fprintf(f,
		"[rfr]\nhold_packets = 256\nmax_hold_us = %u\n"
		"close_timeout_us = 20000\nstall_us = %u\n",
		hold_us, 5000 + draw(s, 4) * 2500);
	if (s->spray)
		fprintf(f,
			"mode = spray\nspray_bytes = 1024\nspray_flows = 16\nspray_evs = 16\n"
			"spray_keepalive_us = %u\n",
			500u << draw(s, 3));
	fprintf(f,
		"[ppp]\nbackoff_min_us = 1000\nbackoff_max_us = 20000\nprobe_timeout_us = %u\n"
		"%s",
		1000 + draw(s, 3) * 1000, sound ? "" : "cycle_us = many\n");
	fprintf(f, "[cc]\nmode = %s\nrpg_max_rate = %u\nrto_us = 24000\nburst_bytes = 1024\n",
		s->dcqcn ? "dcqcn" : "native", s->dcqcn ? 100 : 100000);
	fclose(f);
	p->hold_us = hold_us;
}
