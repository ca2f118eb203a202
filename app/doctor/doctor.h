/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_DOCTOR_H
#define HP3_DOCTOR_H
/*
 * What in this host or in its configuration keeps hp3 from working, or working well: a table of
 * checks (checks.def), each a small function that finds nothing or says what is, and the command
 * that mends it. hp3ctl doctor runs them all, hp3d runs those marked START before it touches a
 * port, and --check-config those marked CONFIG.
 *
 * Nothing is changed, and nothing is sent.
 */
#include <stdio.h>
#include "app/doctor/host.h"
#include "config/config.h"

enum hp3_severity { HP3_INFO, HP3_WARNING, HP3_ERROR };

enum hp3_check_when {
	HP3_CHECK_DOCTOR = 0, /* for hp3ctl doctor alone */
	HP3_CHECK_START = 1, /* hp3d, too: errors keep it from starting */
	HP3_CHECK_CONFIG = 2, /* --check-config, too: errors make it end with 2 */
};

/* One address pair, as a running hp3d sees its paths: of `ports` source ports whose path is known
 * or predicted `paths` different ones, the most frequent of them `most` times. */
struct hp3_drawn {
	char pair[128];
	unsigned ports, paths, most;
	bool by_qpn; /* its switches hash the queue pair number, too */
	bool by_opcode; /* ... the opcode */
};

struct hp3_doctor;
struct hp3_check {
	const char *id;
	enum hp3_severity severity; /* of what it finds */
	unsigned when; /* enum hp3_check_when */
	const char *about; /* what is wrong if it finds something */
	const char *why; /* why that matters */
	void (*run)(struct hp3_doctor *d);
};

#define HP3_FINDINGS_MAX 256u
struct hp3_finding {
	const struct hp3_check *check;
	char what[384];
	char fix[384]; /* a command to type, or what to change in the configuration */
};

struct hp3_doctor {
	const struct hp3_host *host;
	const char *file; /* the configuration's */
	const struct hp3_config *cfg; /* NULL: it could not be read */
	const struct hp3_config_errors *errors; /* why; may be NULL */
	const struct hp3_drawn *drawn; /* told by a running hp3d */
	unsigned n_drawn;

	const struct hp3_check *check; /* the one that runs */
	struct hp3_finding found[HP3_FINDINGS_MAX]; /* most severe first */
	unsigned n;
};

extern const struct hp3_check hp3_checks[];
extern const unsigned hp3_n_checks;

/* Runs the checks that `when` names (HP3_CHECK_DOCTOR: all). What d knows was filled in before. */
void hp3_doctor_run(struct hp3_doctor *d, enum hp3_check_when when);
unsigned hp3_doctor_count(const struct hp3_doctor *d, enum hp3_severity at_least);
const char *hp3_severity_name(enum hp3_severity s);

/* For hp3d: a line on `out` for each error, or if there is none for each warning; returns how many
 * errors there are. */
unsigned hp3_doctor_report(
	const struct hp3_config *cfg, const char *file, enum hp3_check_when when, FILE *out);

#endif
