/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/process.h"
#include <signal.h>
#include <stdio.h>
#include "app/clock.h"
#include "base/urls.h"

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = sig;
}

void fleet_ends_by_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

bool fleet_is_over(const struct hp3_bus *bus)
{
	return stopped != 0 || hp3_bus_is_refused(bus);
}

uint64_t fleet_clock_us(clockid_t id)
{
	return hp3_clock_ns(id) / 1000;
}

struct hp3_bus *fleet_bus_open(const struct fleet_config *cfg)
{
	const struct hp3_bus_options options = {.servers = cfg->fleet.servers,
		.name = "hp3-fleet",
		.credentials = cfg->fleet.credentials,
		.nkey = cfg->fleet.nkey,
		.nkey_seed = cfg->fleet.nkey_seed,
		.tls_ca = cfg->fleet.tls_ca,
		.tls_cert = cfg->fleet.tls_cert,
		.tls_key = cfg->fleet.tls_key};
	char why[256] = "no memory";
	struct hp3_bus *bus = hp3_bus_open(&options, why, sizeof(why));

	if (bus == NULL)
		fprintf(stderr, "hp3-fleet: %s\n", why);
	return bus;
}

int fleet_ended(const struct hp3_bus *bus, const struct fleet_config *cfg)
{
	char servers[HP3_INI_VALUE_MAX];

	if (!hp3_bus_is_refused(bus))
		return FLEET_DONE;
	fprintf(stderr,
		"hp3-fleet: %s refuses this user, or is not who its certificate should say; see "
		"credentials=, nkey=, tls_ca= and tls_cert= in [fleet], and the server's log\n",
		hp3_urls_shown(cfg->fleet.servers, servers, sizeof(servers)));
	return FLEET_FAILED;
}
