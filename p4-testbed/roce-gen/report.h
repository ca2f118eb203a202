/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The results of a run as lines of JSON: one line per interval (with --live), one line per message
 * (with --messages-out), and, at the end, one line for the whole run. The fields are described in
 * roce-gen(1). Times are in microseconds, rates in Mb/s of payload.
 */
#include <stdio.h>
#include <jansson.h>
#include "options.h"
#include "port.h"

#define GEN_SERIES_QPS 64u /* if a run has more queue pairs, series have only sums */

/* Totals since the start. The value of an interval is the difference between two totals. */
struct gen_totals {
	/*
	 * bytes of payload. tx: acknowledged SENDs and WRITEs, and received READ data; rx: SENDs
	 * and WRITEs that arrived in order
	 */
	uint64_t tx_bytes, rx_bytes;
	uint64_t again, cnps_sent, cnps_received, ect, ce, out_of_seq, overtaken, completed;
	uint64_t qp_tx[GEN_SERIES_QPS], qp_rx[GEN_SERIES_QPS];
};

struct gen_report {
	const struct gen_options *o;
	const struct gen_endpoint *ep;
	const struct gen_workload *w;
	FILE *messages;
	json_t *series;
	struct gen_totals last;
	uint64_t began, last_at; /* ns */
	uint64_t ended;
};

/* Returns 0, or a negative errno with a message on stderr. */
int gen_report_open(struct gen_report *r, const struct gen_options *o,
	const struct gen_endpoint *ep, const struct gen_workload *w);
void gen_report_close(struct gen_report *r);
void gen_report_begin(struct gen_report *r, uint64_t now);
void gen_report_message(struct gen_report *r, const struct gen_event *e);
/* Ends the interval that began with the previous call. */
void gen_report_interval(struct gen_report *r, uint64_t now);
/* Writes the results of the whole run. `outcome` is one word. Returns 0, or a negative errno with a
 * message. */
int gen_report_final(
	struct gen_report *r, struct gen_port *port, const char *outcome, uint64_t now);
