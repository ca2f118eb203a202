/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "app/clock.h"
#include "sim/cli/progress.h"
#include "sim/work/traffic.h"

#define EVERY_TERMINAL (SIM_SEC / 1000 / 5) /* ns: 0.2 s */
#define EVERY_LINE     (SIM_SEC / 1000 * 2)
#define COLUMNS        80u
#define MIN_COLUMNS    40u
#define TEXT_MAX       1024u

/* Long flows end late, so bytes are counted where all of them are the traffic's own. */
static double share_of(const struct sim *s, const struct sim_meter *m)
{
	double jobs = sim_jobs_share(s);

	if (jobs >= 0)
		return jobs;
	if (s->jobs != NULL || m->bytes == 0)
		return s->n_known > 0 ? (double)s->known_done / s->n_known : 0;
	return (double)(s->n.data_bytes - s->n.again_bytes) / (double)m->bytes;
}

static void update_meter(const struct sim *s, void *arg)
{
	struct sim_meter *m = arg;
	double share = share_of(s, m);

	m->permyriad = (uint32_t)(10000 * (share < 1 ? share : 1));
}

void sim_meter_watch(struct sim *s, struct sim_meter *m)
{
	m->bytes = 0;
	for (uint32_t i = 0; i < s->n_demands; i++)
		m->bytes += s->demand[i].bytes;
	s->progress = update_meter;
	s->progress_arg = m;
}

void sim_progress_start(struct sim_progress *p, bool wanted)
{
	p->terminal = isatty(STDERR_FILENO);
	p->on = wanted || p->terminal;
	p->began = p->shown = hp3_clock_ns(CLOCK_MONOTONIC);
}

bool sim_progress_due(struct sim_progress *p)
{
	uint64_t now;

	if (!p->on)
		return false;
	now = hp3_clock_ns(CLOCK_MONOTONIC);
	if (now - p->shown < (p->terminal ? EVERY_TERMINAL : EVERY_LINE))
		return false;
	p->shown = now;
	return true;
}

static void time_left(const struct sim_progress *p, double share, char *text, size_t size)
{
	double left =
		(double)(hp3_clock_ns(CLOCK_MONOTONIC) - p->began) / 1e9 * (1 - share) / share;
	uint64_t s = (uint64_t)(left + 0.5);

	if (share < 0.001)
		snprintf(text, size, "ETA -");
	else
		snprintf(text, size, "ETA %llu:%02u:%02u", (unsigned long long)(s / 3600),
			(unsigned)(s / 60 % 60), (unsigned)(s % 60));
}

void sim_progress_show(struct sim_progress *p, double share, const char *text)
{
	char eta[40], line[TEXT_MAX], bar[21] = "....................";
	struct winsize w = {0};

	memset(bar, '#', (size_t)(share * (sizeof(bar) - 1)));
	time_left(p, share, eta, sizeof(eta));
	snprintf(line, sizeof(line), "%.1f %%, %s, %s", share * 100, eta, text);
	if (!p->terminal) {
		fprintf(stderr, "hp3-sim: %s\n", line);
		return;
	}
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
		w.ws_col = COLUMNS;
	if (w.ws_col < MIN_COLUMNS)
		w.ws_col = MIN_COLUMNS;
	fprintf(stderr, "\r[%s] %.*s\033[K", bar, w.ws_col - (int)(sizeof(bar) + 3), line);
}

void sim_progress_end(const struct sim_progress *p)
{
	if (p->on && p->terminal)
		fputs("\r\033[K", stderr);
}

static void show_run_progress(const struct sim *s, void *arg)
{
	struct sim_watch *w = arg;
	char text[64];

	if (!sim_progress_due(&w->progress))
		return;
	update_meter(s, &w->meter);
	snprintf(text, sizeof(text), "%.3f ms simulated", (double)s->now / SIM_MS);
	sim_progress_show(&w->progress, w->meter.permyriad / 1e4, text);
}

void sim_watch_run(struct sim *s, struct sim_watch *w, bool wanted)
{
	sim_meter_watch(s, &w->meter);
	sim_progress_start(&w->progress, wanted);
	s->progress = w->progress.on ? show_run_progress : NULL;
	s->progress_arg = w;
}
