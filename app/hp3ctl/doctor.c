/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor: checks this host and the configuration. */
#include "app/doctor/doctor.h"
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/hp3ctl.h"
#include "config/config_file.h"

#define PAIRS_MAX   64u /* address pairs that are read */
#define PORTS_ASKED 64u
#define PORT_FIRST  0xC000u
#define PORT_STEP   257u /* prime: all bits of a port change */

/* Does hp3d answer? doctor also works without hp3d. */
static bool is_hp3d_running(const char *path)
{
	struct hp3_line line = {.fd = -1};
	bool yes = hp3_line_connect(&line, path, 0) == 0;

	hp3_line_close(&line);
	return yes;
}

/* The name of a port's path; false: not known. */
static bool path_name(json_t *row, char *buf, size_t cap)
{
	json_t *path = json_object_get(row, "path");

	if (json_is_string(json_object_get(row, "known")))
		snprintf(buf, cap, "%s", hp3ctl_text(row, "known"));
	else if (json_is_integer(path))
		snprintf(buf, cap, "%lld", json_integer_value(path));
	else
		return false;
	return true;
}

static void count_paths(json_t *rows, struct hp3_drawn *drawn)
{
	json_t *seen = json_object(), *row, *n;
	const char *key;
	size_t i;

	json_array_foreach (rows, i, row) {
		char name[64];

		if (!path_name(row, name, sizeof(name)))
			continue;
		drawn->ports++;
		json_object_set_new(seen, name,
			json_integer(1 + json_integer_value(json_object_get(seen, name))));
	}
	drawn->paths = (unsigned)json_object_size(seen);
	json_object_foreach (seen, key, n) {
		if (json_integer_value(n) > drawn->most)
			drawn->most = (unsigned)json_integer_value(n);
	}
	json_decref(seen);
}

/* Known or predicted paths of some source ports of a flow's address pair. */
static int ask_ports(struct hp3ctl *ctl, const char *flow, struct hp3_drawn *drawn)
{
	json_t *ports = json_array(), *data;
	int rc;

	for (unsigned i = 0; i < PORTS_ASKED; i++)
		json_array_append_new(
			ports, json_integer(PORT_FIRST + i * PORT_STEP % (0x10000 - PORT_FIRST)));
	rc = hp3ctl_ask_data(ctl,
		json_pack("{s:s, s:s, s:b, s:o}", "cmd", "trace", "flow", flow, "known", 1, "ports",
			ports),
		&data);
	if (rc != HP3CTL_DONE)
		return rc;
	count_paths(json_object_get(data, "ports"), drawn);
	json_decref(data);
	return HP3CTL_DONE;
}

struct pairs {
	struct hp3_drawn drawn[PAIRS_MAX];
	char flow[PAIRS_MAX][160]; /* one flow of each pair */
	unsigned n;
};

static int take_flows(void *arg, json_t *flows)
{
	struct pairs *p = arg;
	json_t *flow;
	size_t i;

	json_array_foreach (flows, i, flow) {
		const char *id = hp3ctl_text(flow, "flow"), *end = strrchr(id, '/');
		unsigned k = 0;

		if (end == NULL || p->n == PAIRS_MAX)
			continue;
		while (k < p->n && (strncmp(p->drawn[k].pair, id, (size_t)(end - id)) != 0 ||
					   p->drawn[k].pair[end - id] != '\0'))
			k++;
		if (k < p->n)
			continue;
		snprintf(p->drawn[k].pair, sizeof(p->drawn[k].pair), "%.*s", (int)(end - id), id);
		snprintf(p->flow[k], sizeof(p->flow[k]), "%s", id);
		p->n++;
	}
	return HP3CTL_DONE;
}

/* Marks the pairs whose switches hash the queue pair number. */
static int take_pairs(void *arg, json_t *pairs)
{
	struct pairs *p = arg;
	json_t *pair;
	size_t i;

	json_array_foreach (pairs, i, pair) {
		const char *tracing = hp3ctl_text(json_object_get(pair, "identity"), "tracing");

		for (unsigned k = 0; k < p->n; k++) {
			if (strcmp(p->drawn[k].pair, hp3ctl_text(pair, "pair")) != 0)
				continue;
			p->drawn[k].by_qpn = strcmp(tracing, "by-qpn") == 0;
			p->drawn[k].by_opcode = strcmp(tracing, "by-opcode") == 0;
		}
	}
	return HP3CTL_DONE;
}

/* Reads paths from a running hp3d; a flow that has ended meanwhile is no error. */
static void ask_flow_ports(struct hp3ctl *ctl, struct pairs *p)
{
	if (hp3ctl_connect(ctl) != HP3CTL_DONE ||
		hp3ctl_each_page(ctl, json_pack("{s:s}", "cmd", "flows"), take_flows, p) !=
			HP3CTL_DONE ||
		hp3ctl_each_page(ctl, json_pack("{s:s}", "cmd", "paths"), take_pairs, p) !=
			HP3CTL_DONE)
		return;
	for (unsigned i = 0; i < p->n; i++) {
		if (ask_ports(ctl, p->flow[i], &p->drawn[i]) == HP3CTL_UNREACHABLE)
			return;
	}
}

static void print_finding(const struct hp3ctl *ctl, const struct hp3_finding *f)
{
	const char *severity = hp3_severity_name(f->check->severity);

	if (ctl->json) {
		hp3ctl_print_new_json(json_pack("{s:i, s:s, s:s, s:s, s:s, s:s}", "v", 1, "id",
			f->check->id, "severity", severity, "what", f->what, "why", f->check->why,
			"fix", f->fix));
		return;
	}
	printf("%s: %s: %s\n", severity, f->check->id, f->what);
	printf("    why: %s\n", f->check->why);
	if (f->fix[0] != '\0')
		printf("    fix: %s\n", f->fix);
}

int hp3ctl_doctor(struct hp3ctl *ctl)
{
	static struct hp3_doctor d; /* large */
	static struct hp3_config cfg;
	static struct pairs pairs;
	const char *socket = HP3CTL_DEFAULT_SOCKET;
	struct hp3_config_errors errors = {0};
	unsigned bad, errors_found;

	d = (struct hp3_doctor){.host = &hp3_host, .file = HP3_CONFIG_FILE, .errors = &errors};
	if (ctl->given & HP3CTL_BIT(CONFIG))
		d.file = ctl->text[HP3CTL_CONFIG];
	hp3_config_defaults(&cfg);
	if (hp3_config_load(d.file, 0, &cfg, &errors) == 0) {
		hp3_config_name_ports(&cfg, "hp3ctl");
		d.cfg = &cfg;
		socket = cfg.control.socket;
	}
	if (ctl->given & HP3CTL_BIT(SOCKET))
		socket = ctl->text[HP3CTL_SOCKET];
	ctl->text[HP3CTL_SOCKET] = socket;
	if (is_hp3d_running(socket)) {
		ask_flow_ports(ctl, &pairs);
		d.drawn = pairs.drawn;
		d.n_drawn = pairs.n;
	}
	hp3_doctor_run(&d, HP3_CHECK_DOCTOR);
	hp3_config_errors_free(&errors);
	for (unsigned i = 0; i < d.n; i++)
		print_finding(ctl, &d.found[i]);
	bad = hp3_doctor_count(&d, HP3_WARNING);
	errors_found = hp3_doctor_count(&d, HP3_ERROR);
	if (!ctl->json)
		printf("%u checks, %u error%s, %u warning%s\n", hp3_n_checks, errors_found,
			errors_found == 1 ? "" : "s", bad - errors_found,
			bad - errors_found == 1 ? "" : "s");
	return bad > 0 ? HP3CTL_FAILED : HP3CTL_DONE;
}
