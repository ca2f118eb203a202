/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * One run of roce-gen. A run sets up queue pairs, waits for all peers, generates load, waits until
 * all messages are complete, and sends "done" to the peers. Then it waits for "done" from all
 * peers, and writes the report. A run has one thread, which sleeps when nothing is due. While
 * packets wait only for pacing, the thread wakes every --burst-us and sends the packets that are
 * due.
 */
#include "control.h"
#include "report.h"

/* Values of epoll's data, in addition to those in control.h. */
#define GEN_TAG_PORT   UINT64_C(2)
#define GEN_TAG_SIGNAL UINT64_C(3)
#define GEN_NS_PER_MS  UINT64_C(1000000)

/* Phases of a run, in this order; the loop ends in phase END. */
enum gen_phase { SETUP, WAIT_START, LOAD, DRAIN, LINGER, END };

struct gen_run {
	const struct gen_options *o;
	struct gen_port port;
	struct gen_endpoint ep;
	struct gen_control control;
	struct gen_workload w;
	struct gen_workload_params load;
	struct hp3_cdf cdf;
	struct gen_report report;
	int epoll, signals;
	enum gen_phase phase;
	uint64_t phase_end; /* ns; deadline of the phase */
	uint64_t interval_at;
	bool interrupted, blocked, failed_qp;
	const char *outcome;
	int code;
};

/* Runs roce-gen. Returns an exit code (enum gen_exit). */
int gen_run(const struct gen_options *o);
/*
 * setup.c: opens files, sockets and the endpoint. Returns -1 if the run may start; otherwise an
 * exit code.
 */
int gen_run_setup(struct gen_run *r, uint64_t now);
void gen_run_teardown(struct gen_run *r);
