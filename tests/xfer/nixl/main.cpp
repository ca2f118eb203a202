/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: nixl-agent PLUGIN CASE
 *
 * Drives the backend plugin of NIXL, in one process or two, over TCP on this host. Exit code 0: the
 * case passed.
 */
#include <cstdio>
#include <cstring>
#include "tests/xfer/nixl/agent.h"

static const struct {
	const char *name;
	void (*run)();
} cases[] = {{"data", case_data}, {"many", case_many}, {"long", case_long},
	{"notification", case_notification}, {"both", case_both}, {"release", case_release},
	{"deregister", case_deregister}, {"death", case_death}, {"stopped", case_stopped},
	{"disconnect", case_disconnect}, {"peers", case_peers}, {"refusals", case_refusals},
	{"metadata", case_metadata}, {"messages", case_messages}};

int main(int argc, char **argv)
{
	const double since = seconds();

	for (const auto &c : cases) {
		if (argc != 3 || strcmp(argv[2], c.name) != 0)
			continue;
		plugin_load(argv[1]);
		c.run();
		printf("%s: right, %.1f s\n", c.name, seconds() - since);
		return 0;
	}
	fprintf(stderr, "usage: %s PLUGIN CASE. Cases:", argv[0]);
	for (const auto &c : cases)
		fprintf(stderr, " %s", c.name);
	fprintf(stderr, "\n");
	return 2;
}
