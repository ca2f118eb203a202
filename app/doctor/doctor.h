/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds problems of this host or its configuration that keep hp3 from working, or from working
 * well. The table of checks is checks.def. A check is a small function that reports findings, each
 * with its fix: a command, or a change of the configuration. hp3ctl doctor runs all checks. hp3d
 * runs the checks marked START before it opens a port. hp3d --check-config runs the checks marked
 * CONFIG.
 *
 * Checks change nothing and send nothing.
 */
#include <stdio.h>
#include "app/doctor/host.h"
#include "config/config.h"

enum hp3_severity { HP3_INFO, HP3_WARNING, HP3_ERROR };

enum hp3_check_when {
	HP3_CHECK_DOCTOR = 0, /* only for hp3ctl doctor */
	HP3_CHECK_START = 1, /* also for hp3d: it does not start after errors */
	HP3_CHECK_CONFIG = 2, /* also for --check-config: exit code 2 after errors */
};

/* How source ports of an address pair spread over paths (from a running hp3d). The paths of `ports`
 * ports are known or predicted. These ports use `paths` different paths, and `most` of these ports
 * share the most frequent path. */
struct hp3_drawn {
	char pair[128];
	unsigned ports, paths, most;
	bool by_qpn; /* switches also hash the queue pair number */
	bool by_opcode; /* switches also hash the opcode */
};

struct hp3_doctor;
struct hp3_port;
struct hp3_rdma_port;
struct hp3_check {
	const char *id;
	enum hp3_severity severity; /* severity of the check's findings */
	unsigned when; /* enum hp3_check_when */
	const char *about; /* what is wrong if there are findings */
	const char *why; /* why it matters */
	/* Exactly one of the three functions is set. */
	void (*run)(struct hp3_doctor *d);
	void (*run_port)(struct hp3_doctor *d, const struct hp3_port *p);
	void (*run_rdma)(struct hp3_doctor *d, const struct hp3_rdma_port *p);
};

#define HP3_FINDINGS_MAX 256u
struct hp3_finding {
	const struct hp3_check *check;
	char what[384];
	char fix[384]; /* a command to type, or what to change in the configuration */
};

struct hp3_doctor {
	const struct hp3_host *host;
	const char *file; /* path of the configuration */
	const struct hp3_config *cfg; /* NULL: the file could not be read */
	const struct hp3_config_errors *errors; /* errors in the configuration; may be NULL */
	const struct hp3_drawn *drawn; /* from a running hp3d */
	unsigned n_drawn;

	const struct hp3_check *check; /* the running check */
	/* port that the running check is about; NULL: it is not about a port */
	const struct hp3_port *port;
	struct hp3_finding found[HP3_FINDINGS_MAX]; /* most severe first */
	unsigned n;
};

extern const struct hp3_check hp3_checks[];
extern const unsigned hp3_n_checks;

/* Runs the checks marked `when` (HP3_CHECK_DOCTOR: all). The caller has set the inputs in *d, from
 * `host` to `n_drawn`. */
void hp3_doctor_run(struct hp3_doctor *d, enum hp3_check_when when);
unsigned hp3_doctor_count(const struct hp3_doctor *d, enum hp3_severity at_least);
const char *hp3_severity_name(enum hp3_severity s);

/* For hp3d: prints a line per error; if there is no error, a line per warning. Returns the number
 * of errors. */
unsigned hp3_doctor_report(
	const struct hp3_config *cfg, const char *file, enum hp3_check_when when, FILE *out);
