/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_REPORT_H
#define ROCE_GEN_REPORT_H
/*
 * What a run found out, as JSON: one line for each interval (with --live), one for the whole at the
 * end, and with --messages-out one for each message. Field by field in roce-gen(1). Times are
 * microseconds, rates Mb/s of payload.
 */
#include <stdio.h>
#include <jansson.h>
#include "options.h"
#include "port.h"

#define GEN_SERIES_QPS 64u /* with more queue pairs the series shows their sum only */

/* What an interval is the difference of. */
struct gen_totals {
	uint64_t tx_bytes, rx_bytes; /* payload acknowledged by the peer, and arrived in order */
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

/* 0 or a negative errno with a message on stderr. */
int gen_report_open(struct gen_report *r, const struct gen_options *o,
	const struct gen_endpoint *ep, const struct gen_workload *w);
void gen_report_close(struct gen_report *r);
void gen_report_begin(struct gen_report *r, uint64_t now);
void gen_report_message(struct gen_report *r, const struct gen_event *e);
/* Ends an interval, which began with the last call. */
void gen_report_interval(struct gen_report *r, uint64_t now);
/* The whole; `outcome` is a word for it. 0 or a negative errno with a message. */
int gen_report_final(
	struct gen_report *r, struct gen_port *port, const char *outcome, uint64_t now);

#endif
