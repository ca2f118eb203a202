/* SPDX-License-Identifier: BSD-3-Clause */
/* bundle: all data for remote support, in one file. */
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "app/hp3ctl/hp3ctl.h"
#include "base/plain.h"

#define ENTRY_MAX 96u

/* Requests to hp3d: for one object, or a list page by page. */
static const struct {
	const char *name;
	const char *request;
	bool list;
} asked[] = {
	{"health.json", "{\"cmd\":\"health\"}", false},
	{"config.json", "{\"cmd\":\"config\"}", false},
	{"stats.json", "{\"cmd\":\"stats\"}", false},
	{"flows.json", "{\"cmd\":\"flows\"}", true},
	{"paths.json", "{\"cmd\":\"paths\"}", true},
	{"events.json", "{\"cmd\":\"events\",\"all\":true}", false},
};

#define COMMAND(name, ...)                                                                         \
	{                                                                                          \
		name, (const char *const[])                                                        \
		{                                                                                  \
			__VA_ARGS__, NULL                                                          \
		}                                                                                  \
	}

/* Files and commands of the host. */
static const struct {
	const char *name;
	const char *const *argv;
} outputs[] = {
	COMMAND("doctor.txt", "/proc/self/exe", "doctor"),
	COMMAND("uname.txt", "uname", "-a"),
	COMMAND("os-release.txt", "cat", "/etc/os-release"),
	COMMAND("cpu.txt", "lscpu"),
	COMMAND("memory.txt", "cat", "/proc/meminfo"),
	COMMAND("link.txt", "ip", "-details", "-statistics", "link"),
	COMMAND("address.txt", "ip", "address"),
	COMMAND("route.txt", "ip", "route", "show", "table", "all"),
	COMMAND("neighbour.txt", "ip", "neighbour"),
	COMMAND("tc.txt", "tc", "filter", "show"),
	COMMAND("rdma.txt", "rdma", "link"),
	COMMAND("sysctl.txt", "sysctl", "net.core"),
	COMMAND("journal.txt", "journalctl", "--unit=hp3d", "--no-pager", "--lines=5000"),
	COMMAND("audit.txt", "tail", "--lines=5000", "/var/log/hp3/audit.log"),
};

static int fail_bundle_file(struct hp3ctl *ctl, const char *path, int rc)
{
	return hp3ctl_fail(ctl, HP3CTL_FAILED, "no-file", "give another path: hp3ctl bundle FILE",
		"%s: %s", path, strerror(-rc));
}

/* hp3ctl may end during this (memory.c). */
static const char *unfinished;

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
}

static void print_progress(const struct hp3ctl *ctl, const char *what)
{
	if (!ctl->json)
		fprintf(stderr, "hp3ctl: %s\n", what);
}

static void append_event(void *arg, json_t *event)
{
	json_array_append(arg, event);
}

/* The whole answer; NULL after an error message. */
static json_t *ask_whole_answer(struct hp3ctl *ctl, const char *request, bool list)
{
	json_t *req = json_loads(request, 0, NULL), *all = NULL;
	json_int_t since = 0;
	int rc;

	if (strcmp(hp3ctl_text(req, "cmd"), "events") == 0)
		rc = hp3ctl_each_event(ctl, req, &since, append_event, all = json_array());
	else if (list)
		rc = hp3ctl_each_page(ctl, req, hp3ctl_append_page, all = json_array());
	else
		rc = hp3ctl_ask_data(ctl, req, &all);
	if (rc == HP3CTL_DONE)
		return all;
	json_decref(all);
	return NULL;
}

/* If hp3d does not run, the bundle has the error message. */
static int add_hp3d(struct hp3ctl *ctl, struct hp3ctl_tarball *a)
{
	bool up = hp3ctl_connect(ctl) == HP3CTL_DONE;
	char name[ENTRY_MAX];
	int rc = 0;

	for (size_t i = 0; up && rc == 0 && i < sizeof(asked) / sizeof(asked[0]); i++) {
		json_t *data = ask_whole_answer(ctl, asked[i].request, asked[i].list);
		char *text = data ? json_dumps(data, JSON_INDENT(1)) : NULL;

		snprintf(name, sizeof(name), "hp3d/%s", asked[i].name);
		print_progress(ctl, name);
		if (text)
			rc = hp3ctl_tarball_add(a, name, text, strlen(text));
		free(text);
		json_decref(data);
	}
	return rc;
}

static int add_host_outputs(const struct hp3ctl *ctl, struct hp3ctl_tarball *a)
{
	char name[ENTRY_MAX];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		snprintf(name, sizeof(name), "host/%s", outputs[i].name);
		print_progress(ctl, name);
		rc = hp3ctl_tarball_add_output(a, name, outputs[i].argv);
	}
	return rc;
}

/* Driver, firmware and offloads of every interface. */
static int add_interfaces(const struct hp3ctl *ctl, struct hp3ctl_tarball *a)
{
	static const char *const options[] = {"--driver", "--show-features", "--statistics"};
	struct if_nameindex *list = if_nameindex();
	char name[ENTRY_MAX];
	int rc = 0;

	if (!list) {
		snprintf(name, sizeof(name), "no interfaces: %s\n", strerror(errno));
		return hp3ctl_tarball_add(a, "host/ethtool.txt", name, strlen(name));
	}
	for (struct if_nameindex *i = list; rc == 0 && i->if_index != 0; i++) {
		snprintf(name, sizeof(name), "interface %s", i->if_name);
		print_progress(ctl, hp3_plain(name));
		for (size_t k = 0; rc == 0 && k < sizeof(options) / sizeof(options[0]); k++) {
			const char *const argv[] = {"ethtool", options[k], i->if_name, NULL};

			snprintf(name, sizeof(name), "host/ethtool/%s%s.txt", i->if_name,
				options[k] + 1);
			rc = hp3ctl_tarball_add_output(a, hp3_plain(name), argv);
		}
	}
	if_freenameindex(list);
	return rc;
}

static void default_path(char *buf, size_t cap)
{
	char host[65] = "host", when[32];
	time_t now = time(NULL);
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	for (char *c = strchr(hp3_plain(host), '/'); c != NULL; c = strchr(c, '/'))
		*c = '?';
	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(buf, cap, "hp3-bundle-%s-%s.tar.gz", host, when);
}

int hp3ctl_bundle(struct hp3ctl *ctl)
{
	struct hp3ctl_tarball *a;
	static char path[128];
	const char *to = path;
	int rc, end;

	default_path(path, sizeof(path));
	if (ctl->n_args > 0)
		to = ctl->args[0];
	a = hp3ctl_tarball_create(to);
	if (!a)
		return fail_bundle_file(ctl, to, -errno);
	unfinished = to;
	atexit(remove_unfinished);
	rc = hp3ctl_tarball_add(a, "version.txt", "hp3ctl " HP3_VERSION "\n",
		sizeof("hp3ctl " HP3_VERSION "\n") - 1);
	if (rc == 0)
		rc = add_hp3d(ctl, a);
	if (rc == 0)
		rc = add_host_outputs(ctl, a);
	if (rc == 0)
		rc = add_interfaces(ctl, a);
	end = hp3ctl_tarball_close(a);
	rc = rc < 0 ? rc : end;
	if (rc < 0)
		return fail_bundle_file(ctl, to, rc);
	unfinished = NULL;
	if (ctl->json)
		hp3ctl_print_new_json(json_pack("{s:i, s:s}", "v", 1, "file", to));
	else
		printf("%s\n", to);
	return HP3CTL_DONE;
}
