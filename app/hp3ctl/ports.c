/* SPDX-License-Identifier: BSD-3-Clause */
/* ports: source ports to a peer that are on different paths, in a format for applications. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3ctl/commands.h"

#define PORTS_PAUSE_US 100000
#define PORTS_POLLS    300 /* 30 s without progress; a comparison takes one or two seconds */

enum { LIST, FLOW_LABEL, MOONCAKE, JSON, UCCL, NCCL, FORMATS };

static const struct {
	const char *name, *none; /* none: text if there is no value */
} formats[FORMATS] = {
	[LIST] = {"list"},
	[FLOW_LABEL] = {"flow_label"},
	[MOONCAKE] = {"mooncake"},
	[JSON] = {"json"},
	[UCCL] = {"uccl",
		"UCCL takes no list of ports (UCCL_UDP_SPORT_BASE is one number for all queue "
		"pairs)"},
	[NCCL] = {"nccl",
		"NCCL has no variable for source ports or flow labels of its queue pairs"},
};

const char *hp3ctl_port_format(unsigned i)
{
	return i < FORMATS ? formats[i].name : NULL;
}

static unsigned format_of(const struct hp3ctl *ctl)
{
	unsigned i = 0;

	if (!(ctl->given & HP3CTL_BIT(FORMAT)))
		return ctl->json ? JSON : LIST;
	while (strcmp(formats[i].name, ctl->text[HP3CTL_FORMAT]) != 0)
		i++;
	return i;
}

static void print_port_row(json_t *row)
{
	printf("%5lld  0x%05llx     %-10s %6.1f s  %-9s %s\n", hp3ctl_number(row, "port"),
		hp3ctl_number(row, "flow_label"), hp3ctl_text(row, "evidence"),
		(double)hp3ctl_number(row, "age_ns") / 1e9, hp3ctl_text(row, "state"),
		hp3ctl_text(row, "hop"));
}

static void print_ports(unsigned format, json_t *data)
{
	json_t *row;
	size_t i;

	if (format == JSON) {
		hp3ctl_print_json(data);
		return;
	}
	if (format == LIST)
		printf("%5s  %-10s  %-10s %8s  %-9s %s\n", "PORT", "FLOW LABEL", "EVIDENCE", "AGE",
			"STATE", "HOP");
	if (format == MOONCAKE)
		printf("MC_MLX5_QP_UDP_SPORTS=");
	json_array_foreach (json_object_get(data, "ports"), i, row) {
		if (format == LIST)
			print_port_row(row);
		else if (format == FLOW_LABEL)
			printf("0x%05llx\n", hp3ctl_number(row, "flow_label"));
		else
			printf("%s%lld", i ? "," : "", hp3ctl_number(row, "port"));
	}
	if (format == MOONCAKE)
		putchar('\n');
}

/* False: the comparison is not finished, ask again. */
static bool ask_peer_ports(struct hp3ctl *ctl, bool first, int *rc, json_t **answer)
{
	json_t *req =
		json_pack("{s:s, s:s, s:b, s:b}", "cmd", "ports", "peer", ctl->text[HP3CTL_PEER],
			"distinct", (ctl->given & HP3CTL_BIT(DISTINCT)) != 0, "compare", first);
	const char *code;

	if (ctl->number[HP3CTL_COUNT])
		json_object_set_new(
			req, "count", json_integer((json_int_t)ctl->number[HP3CTL_COUNT]));
	*rc = hp3ctl_send(ctl, req);
	if (*rc == HP3CTL_DONE)
		*rc = hp3ctl_receive(ctl, answer);
	if (*rc != HP3CTL_DONE)
		return true;
	code = hp3ctl_error_code(*answer);
	if (code && strcmp(code, "busy") == 0)
		return false;
	*rc = hp3ctl_report(ctl, *answer);
	if (*rc != HP3CTL_DONE)
		json_decref(*answer);
	return true;
}

/* True: the progress in hp3d's answer has changed. */
static bool is_further(json_t *busy, char *at, size_t cap)
{
	const char *said = hp3ctl_text(json_object_get(busy, "error"), "text");
	bool further = strncmp(said, at, cap - 1) != 0;

	snprintf(at, cap, "%s", said);
	return further;
}

int hp3ctl_ports(struct hp3ctl *ctl)
{
	unsigned format = format_of(ctl);
	bool first = true;
	char at[128] = "";
	json_t *answer;
	int rc;

	if (formats[format].none)
		return hp3ctl_fail(ctl, HP3CTL_FAILED, "no-format",
			"take --format list, and place its queue pairs by hp3d (libhp3verbs.so)",
			"%s", formats[format].none);
	if (!(ctl->given & HP3CTL_BIT(PEER)))
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage",
			"--peer ADDRESS, or RAIL/LOCAL-REMOTE as hp3ctl paths has it",
			"whose ports?");
	for (int i = 0; i < PORTS_POLLS; i++) {
		if (ask_peer_ports(ctl, first, &rc, &answer)) {
			if (rc == HP3CTL_DONE) {
				print_ports(format, json_object_get(answer, "data"));
				json_decref(answer);
			}
			return rc;
		}
		if (is_further(answer, at, sizeof(at)))
			i = 0;
		first = false;
		json_decref(answer);
		usleep(PORTS_PAUSE_US);
	}
	return hp3ctl_fail(ctl, HP3CTL_FAILED, "no-result",
		"try again later: searches of flows to this host use up its probes",
		"ports are still being compared");
}
