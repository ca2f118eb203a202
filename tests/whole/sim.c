/* SPDX-License-Identifier: BSD-3-Clause */
/* A world from start to end: faults, and in liveness mode the conditions at its end. */
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/property/epochs.h"
#include "tests/whole/sim.h"

#define BEFORE   (100 * MS) /* and less: a clock wraps in the midst of a world */
#define TROUBLE  (120 * MS)
#define LOOK     (520 * MS) /* hp3d reads links four times a second: sets a port up, then sees it */
#define FLAPS    (400 * MS)
#define BACK     (500 * MS) /* an hp3d that ends has ended, and one that ended is back */
#define SETTLE   (60 * MS) /* what RNICs gave up begins anew */
#define PROGRESS (40 * MS)
#define OFF      (400 * MS)
#define READ     (20 * MS) /* a file was read again, a request is answered */
#define STOP     (400 * MS)

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Folders of worlds whose process was killed: its number is in their name. */
static void remove_left_over(void)
{
	glob_t found;
	int pid;

	if (glob("/tmp/hp3-whole.*", GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (sscanf(found.gl_pathv[i], "/tmp/hp3-whole.%d.", &pid) == 1 &&
			kill(pid, 0) < 0 && errno == ESRCH)
			remove_tree(found.gl_pathv[i]);
	}
	globfree(&found);
}

static void host_begin(struct sim *s, unsigned h)
{
	struct process *p = &s->p[h];

	*p = (struct process){.sim = s, .host = h, .calls.letter = (char)('a' + h)};
	snprintf(p->dir, sizeof(p->dir), "%s/%c", s->dir, 'a' + (int)h);
	snprintf(p->file, sizeof(p->file), "%s/%c/hp3.ini", s->dir, 'a' + (int)h);
	mkdir(p->dir, 0700);
	p->log = fopen(getenv("HP3_WHOLE_LOG") != NULL ? "/dev/stdout" : "/dev/null", "we");
	process_configure(p, "on", true);
	process_start(p);
}

static void begin(struct sim *s, uint64_t seed, const char *module)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed;
	s->rng = seed;
	s->liveness = seed % 2 == 0;
	s->flaps = seed / 2 % 6 == 0;
	s->bond = sim_bonds(seed);
	s->spray = sim_sprays(seed);
	s->dcqcn = seed / 2 % 4 == 3;
	s->reported = s->spray || s->dcqcn;
	s->module_path = module;
	s->began = epoch_of(seed, 0, BEFORE);
	s->ahead = epoch_of(seed, 1, BEFORE) - s->began;
	s->now = s->w[0].now = s->w[1].now = s->began;
	s->w[0].began = s->w[1].began = s->began;
	remove_left_over();
	snprintf(s->dir, sizeof(s->dir), "/tmp/hp3-whole.%d.XXXXXX", (int)getpid());
	if (mkdtemp(s->dir) == NULL)
		abort();
	network_begin(s);
	host_begin(s, 0);
	host_begin(s, 1);
	rnics_begin(s);
	faults_begin(s);
}

static bool runs(const struct process *p)
{
	return p->state == ALIVE && !p->closing && ports_all_up(p);
}

/* Whatever was wrong is right again; an hp3d that is not there is started. */
static void calm_down(struct sim *s)
{
	uint64_t limit = s->now + BACK;

	s->calm = true;
	network_calm(s);
	for (unsigned h = 0; h < 2; h++) {
		struct process *p = &s->p[h];

		memset(p->stuck_until, 0, sizeof(p->stuck_until));
		memset(p->down_until, 0, sizeof(p->down_until));
		p->wall_off = 0;
		ports_starve(p, false);
		process_configure(p, "on", true);
	}
	while (!s->failed && s->now < limit && !(runs(&s->p[0]) && runs(&s->p[1])))
		sim_run_until(s, s->now + MS);
	sim_run_until(s, s->now + (s->flaps ? LOOK : SETTLE));
}

static void each(struct sim *s, const char *line)
{
	for (unsigned h = 0; h < 2 && !s->failed; h++)
		clients_ask(&s->p[h], line);
}

static bool is_off(struct sim *s)
{
	struct whole_account a[2];

	for (unsigned h = 0; h < 2; h++) {
		s->p[h].account(&a[h]);
		if (s->dcqcn) /* whatever the mode, it paces */
			a[h].held = 0;
		if (s->reported) /* who had a number before, with something in flight, cannot drain
				  */
			a[h].moved = 0;
	}
	return a[0].moved + a[0].moves + a[0].held + a[1].moved + a[1].moves + a[1].held == 0;
}

/* Flows are asked to go home again and again; a queue pair whose RNIC waits goes when it goes on.
 */
static void wait_until_off(struct sim *s)
{
	uint64_t limit = s->now + OFF;

	do {
		sim_run_until(s, s->now + 5 * MS);
	} while (!s->failed && s->now < limit && !is_off(s));
	if (!s->failed && !is_off(s))
		WRONG(s, "mode off, but flows are elsewhere, or packets are held");
}

static void reload_all(struct sim *s)
{
	for (unsigned h = 0; h < 2; h++) {
		process_configure(&s->p[h], "on", true);
		process_signal(&s->p[h], SIGHUP);
	}
	sim_run_until(s, s->now + READ);
	each(s, "{\"cmd\":\"config\"}\n");
	each(s, "{\"cmd\":\"health\"}\n");
	sim_run_until(s, s->now + READ);
	for (unsigned h = 0; h < 2; h++) {
		if (s->p[h].reported_hold_us != s->p[h].hold_us)
			WRONG(s, "hp3d %c: max_hold_us is %lld, not %lld", 'a' + (int)h,
				(long long)s->p[h].reported_hold_us, (long long)s->p[h].hold_us);
		if (!s->p[h].ok)
			WRONG(s, "hp3d %c: its health is not ok", 'a' + (int)h);
	}
}

static void expect_live(struct sim *s)
{
	for (unsigned h = 0; h < 2; h++) {
		if (!runs(&s->p[h]))
			WRONG(s, "hp3d %c does not run", 'a' + (int)h);
	}
	reload_all(s);
	each(s, "{\"cmd\":\"mode\",\"mode\":\"on\"}\n");
	rnics_progress(s, false);
	sim_run_until(s, s->now + PROGRESS);
	rnics_progress(s, !s->failed);
	each(s, "{\"cmd\":\"mode\",\"mode\":\"off\"}\n");
	wait_until_off(s);
	s->home_only = !s->reported;
	rnics_progress(s, false);
	sim_run_until(s, s->now + PROGRESS);
	rnics_progress(s, !s->failed);
}

static void stop_all(struct sim *s)
{
	for (unsigned h = 0; h < 2 && !s->failed; h++) {
		struct process *p = &s->p[h];

		clients_check(p);
		p->closing = true;
		process_signal(p, SIGTERM);
	}
	for (uint64_t limit = s->now + STOP; s->now < limit && !s->failed &&
					     !(s->p[0].state == ENDED && s->p[1].state == ENDED);)
		sim_run_until(s, s->now + MS);
	for (unsigned h = 0; h < 2 && !s->failed; h++) {
		process_ended(&s->p[h]);
	}
}

static void end(struct sim *s)
{
	s->r.ms = (s->now - s->began) / MS;
	network_free(s);
	for (unsigned h = 0; h < 2; h++) {
		process_kill(&s->p[h]);
		fclose(s->p[h].log);
	}
	remove_tree(s->dir);
	rnics_free(s);
	sim_time_free(s);
}

int sim_run(uint64_t seed, const char *module, struct sim_result *r)
{
	static struct sim s;

	begin(&s, seed, module);
	sim_run_until(&s, s.now + (s.flaps ? FLAPS : TROUBLE));
	if (s.liveness) {
		calm_down(&s);
		if (!s.failed)
			expect_live(&s);
		if (!s.failed)
			stop_all(&s);
	}
	end(&s);
	*r = s.r;
	fflush(stdout);
	return s.failed ? -1 : 0;
}
