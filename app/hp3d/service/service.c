/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/service/service.h"
#include <stdio.h>
#include <unistd.h>
#include <systemd/sd-daemon.h>
#include "app/clock.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/worker.h"
#include "app/record/record.h"

#define PINGS 4u /* per watchdog time */

enum state { OFF, STARTING, READY, STOPPING };

static struct {
	enum state state;
	const struct hp3_config *cfg;
	uint64_t keep; /* capabilities */
	uint64_t start_ns;
	uint64_t watchdog_ns; /* 0: none */
	uint64_t ping_ns; /* when the latest ping was sent */
	bool silent; /* an lcore hangs, which has been reported */
} service;

/* The worker whose latest round is longest ago; *ago_ns: how long ago. */
static unsigned slowest_worker(uint64_t now, uint64_t *ago_ns)
{
	unsigned last = 0;

	*ago_ns = 0;
	for (unsigned i = 0; i < hp3d_worker_count(); i++) {
		uint64_t round = hp3d_worker_round_at(hp3d_worker(i));
		uint64_t ago = now > round ? now - round : 0;

		if (ago > *ago_ns) {
			*ago_ns = ago;
			last = i;
		}
	}
	return last;
}

void hp3d_service_start(const struct hp3_config *cfg, uint64_t keep)
{
	uint64_t us = 0;

	service.state = STARTING;
	service.cfg = cfg;
	service.keep = keep;
	service.start_ns = hp3d_now();
	service.watchdog_ns = sd_watchdog_enabled(0, &us) > 0 ? us * 1000 : 0;
}

static void name_rails(char *buf, size_t cap)
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < service.cfg->n_rails && n < cap; i++)
		n += (size_t)snprintf(
			buf + n, cap - n, "%s%s", i ? ", " : "", service.cfg->rails[i].name);
}

static void get_ready(void)
{
	char rails[HP3_CONFIG_RAILS_MAX * sizeof(service.cfg->rails[0].name) * 2], kept[128];
	unsigned lcores = hp3d_worker_count();

	if (service.cfg->service.capabilities == HP3_CAPABILITIES_DROP)
		hp3d_capabilities_drop(service.keep);
	hp3d_capabilities_text(kept, sizeof(kept));
	name_rails(rails, sizeof(rails));
	service.state = READY;
	fprintf(stderr,
		"hp3d: ready: version %s, rails %s, %u lcore%s, pid %d, capabilities kept: %s\n",
		HP3_VERSION, rails, lcores, lcores == 1 ? "" : "s", (int)getpid(), kept);
	sd_notifyf(0, "READY=1\nSTATUS=packets pass: rails %s", rails);
	hp3_record(HP3_RECORD_QUIET, "ready",
		json_pack("{s:s, s:s, s:i}", "version", HP3_VERSION, "rails", rails, "pid",
			(int)getpid()),
		"ready");
}

/* A ping means that packets pass, not just that this thread runs. */
static void ping_watchdog(uint64_t now)
{
	uint64_t ago;
	unsigned worker = slowest_worker(now, &ago);

	if (ago > service.watchdog_ns / 2) {
		if (!service.silent) {
			fprintf(stderr, "hp3d: lcore %u has made no round for %llu ms\n", worker,
				(unsigned long long)ago / 1000000);
			sd_notifyf(0, "STATUS=lcore %u hangs", worker);
		}
		service.silent = true;
		return;
	}
	service.silent = false;
	service.ping_ns = now;
	sd_notify(0, "WATCHDOG=1");
}

void hp3d_service_pulse(void)
{
	uint64_t now, ago;

	if (service.state == OFF)
		return;
	now = hp3d_now();
	if (service.state == STARTING) {
		slowest_worker(now, &ago);
		if (now - ago > service.start_ns)
			get_ready();
	}
	if (service.watchdog_ns != 0 && now > service.ping_ns + service.watchdog_ns / PINGS)
		ping_watchdog(now);
}

bool hp3d_service_is_ready(void)
{
	return service.state == READY;
}

void hp3d_service_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=reading the configuration",
		(unsigned long long)hp3_clock_ns(CLOCK_MONOTONIC) / 1000);
}

void hp3d_service_reloaded(void)
{
	sd_notify(0, "READY=1\nSTATUS=packets pass");
}

void hp3d_service_stopping(void)
{
	service.state = service.state == OFF ? OFF : STOPPING;
	sd_notify(0, "STOPPING=1\nSTATUS=draining moved flows home");
	hp3_record(
		HP3_RECORD_QUIET, "stopping", json_pack("{s:i}", "pid", (int)getpid()), "stopping");
}
