/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <arpa/inet.h>
#include <sys/resource.h>
#include "config/message.h"
#include "report.h"

#define US 1e3 /* ns */

int gen_report_open(struct gen_report *r, const struct gen_options *o,
	const struct gen_endpoint *ep, const struct gen_workload *w)
{
	*r = (struct gen_report){.o = o, .ep = ep, .w = w, .series = json_array()};
	if (o->messages_out == NULL)
		return 0;
	r->messages = fopen(o->messages_out, "w");
	if (r->messages != NULL)
		return 0;
	hp3_message("roce-gen: --messages-out %s: %s", o->messages_out, strerror(errno));
	return -errno;
}

void gen_report_close(struct gen_report *r)
{
	if (r->messages != NULL)
		fclose(r->messages);
	json_decref(r->series);
	*r = (struct gen_report){0};
}

static double mbps_of_bytes(uint64_t bytes, uint64_t ns)
{
	return ns == 0 ? 0 : (double)bytes * 8e3 / (double)ns;
}

static struct gen_totals totals_of_report(const struct gen_report *r)
{
	struct gen_totals t = {.completed = r->w->completed};

	for (uint32_t i = 0; i < r->ep->n_qps; i++) {
		const struct gen_qp *q = &r->ep->qps[i];
		uint64_t tx = q->requester.n.acked_bytes, rx = q->responder.n.bytes;

		if (r->ep->n_qps <= GEN_SERIES_QPS) {
			t.qp_tx[i] = tx;
			t.qp_rx[i] = rx;
		}
		t.tx_bytes += tx;
		t.rx_bytes += rx;
		t.again += q->requester.n.again;
		t.cnps_sent += q->cnps_sent;
		t.cnps_received += q->cnps_received;
		t.ect += q->ect;
		t.ce += q->ce;
		t.out_of_seq += q->responder.n.out_of_seq_request;
		t.overtaken += q->order.overtaken + q->order.late_duplicates;
	}
	return t;
}

void gen_report_begin(struct gen_report *r, uint64_t now)
{
	r->began = r->last_at = now;
	r->last = totals_of_report(r);
}

void gen_report_message(struct gen_report *r, const struct gen_event *e)
{
	const struct gen_message *m = &e->message;
	json_t *j;

	if (r->messages == NULL)
		return;
	j = json_pack("{sf si ss sI sf}", "at_us", ((double)m->posted - (double)r->began) / US,
		"qp", (int)e->qp->index, "op", gen_op_names[m->op], "bytes", (json_int_t)m->len,
		"fct_us", (double)(m->completed - m->posted) / US);
	json_dumpf(j, r->messages, JSON_COMPACT | JSON_REAL_PRECISION(12));
	fputc('\n', r->messages);
	json_decref(j);
}

static json_t *qp_rates(const struct gen_report *r, const struct gen_totals *t, uint64_t ns)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->ep->n_qps; i++)
		json_array_append_new(
			list, json_pack("[ff]", mbps_of_bytes(t->qp_tx[i] - r->last.qp_tx[i], ns),
				      mbps_of_bytes(t->qp_rx[i] - r->last.qp_rx[i], ns)));
	return list;
}

void gen_report_interval(struct gen_report *r, uint64_t now)
{
	struct gen_totals t = totals_of_report(r);
	uint64_t ns = now - r->last_at;
	json_t *j;

	if (ns == 0)
		return;
	j = json_pack("{sf sf sf sf sI sI sI sI sI sI sI sI}", "from_s",
		(double)(r->last_at - r->began) / 1e9, "to_s", (double)(now - r->began) / 1e9,
		"tx_mbps", mbps_of_bytes(t.tx_bytes - r->last.tx_bytes, ns), "rx_mbps",
		mbps_of_bytes(t.rx_bytes - r->last.rx_bytes, ns), "completed",
		(json_int_t)(t.completed - r->last.completed), "retransmissions",
		(json_int_t)(t.again - r->last.again), "cnps_sent",
		(json_int_t)(t.cnps_sent - r->last.cnps_sent), "cnps_received",
		(json_int_t)(t.cnps_received - r->last.cnps_received), "ect",
		(json_int_t)(t.ect - r->last.ect), "ce", (json_int_t)(t.ce - r->last.ce),
		"out_of_seq_request", (json_int_t)(t.out_of_seq - r->last.out_of_seq),
		"order_violations", (json_int_t)(t.overtaken - r->last.overtaken));
	if (r->ep->n_qps <= GEN_SERIES_QPS)
		json_object_set_new(j, "qps", qp_rates(r, &t, ns));
	json_array_append(r->series, j);
	if (r->o->live) {
		json_object_set_new(j, "type", json_string("interval"));
		json_object_set_new(j, "name", json_string(r->o->name));
		json_dumpf(j, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
		fputc('\n', stdout);
		fflush(stdout);
		json_object_del(j, "type");
		json_object_del(j, "name");
	}
	json_decref(j);
	r->last = t;
	r->last_at = now;
}

static json_t *histogram_json(const struct gen_histogram *h)
{
	double avg = h->n == 0 ? 0 : (double)h->sum / (double)h->n / US;

	return json_pack("{sI sf sf sf sf sf sf sf}", "n", (json_int_t)h->n, "min",
		(double)h->min / US, "avg", avg, "p50",
		(double)gen_histogram_percentile(h, 0.5) / US, "p95",
		(double)gen_histogram_percentile(h, 0.95) / US, "p99",
		(double)gen_histogram_percentile(h, 0.99) / US, "p999",
		(double)gen_histogram_percentile(h, 0.999) / US, "max", (double)h->max / US);
}

#define AT(member) offsetof(struct gen_qp, member)

/* Counters that are reported for each queue pair, and as sums over all. */
static const struct {
	const char *name;
	size_t at; /* of a uint64_t in struct gen_qp */
} counters[] = {
	{"tx_bytes", AT(requester.n.acked_bytes)},
	{"rx_bytes", AT(responder.n.bytes)},
	{"packets_sent", AT(requester.n.sent)},
	{"retransmissions", AT(requester.n.again)},
	{"timeouts", AT(requester.n.timeouts)},
	{"naks_received", AT(requester.n.naks)},
	{"rnr_naks_received", AT(requester.n.rnr_naks)},
	{"implied_naks", AT(requester.n.implied_naks)},
	{"stale_replies", AT(requester.n.stale)},
	{"packets_received", AT(responder.n.received)},
	{"messages_received", AT(responder.n.messages)},
	{"out_of_seq_request", AT(responder.n.out_of_seq_request)},
	{"out_of_order_packets", AT(responder.n.out_of_order)},
	{"duplicate_request", AT(responder.n.duplicates)},
	{"rnr_naks_sent", AT(responder.n.rnr_naks)},
	{"overtaken", AT(order.overtaken)},
	{"overtaken_across_ports", AT(order.overtaken_across_ports)},
	{"late_duplicates", AT(order.late_duplicates)},
	{"cnps_sent", AT(cnps_sent)},
	{"cnps_received", AT(cnps_received)},
	{"ect", AT(ect)},
	{"ce", AT(ce)},
};

static uint64_t counter_of_qp(const struct gen_qp *q, size_t at)
{
	return *(const uint64_t *)(const void *)((const char *)q + at);
}

static uint64_t sum_of_qps(const struct gen_report *r, size_t at)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->ep->n_qps; i++)
		sum += counter_of_qp(&r->ep->qps[i], at);
	return sum;
}

static json_t *qp_object(const struct gen_qp *q)
{
	enum gen_failure failure = q->requester.failure;
	char ip[INET6_ADDRSTRLEN];
	json_t *j;

	inet_ntop(q->to.ipv6 ? AF_INET6 : AF_INET, q->to.dst_ip, ip, sizeof(ip));
	j = json_pack("{ss sb sI sI sI}", "peer", ip, "loads", q->loads, "qpn", (json_int_t)q->lqpn,
		"peer_qpn", (json_int_t)q->rqpn, "sport", (json_int_t)q->to.sport);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		json_object_set_new(j, counters[i].name,
			json_integer((json_int_t)counter_of_qp(q, counters[i].at)));
	if (q->failed)
		json_object_set_new(j, "failure",
			json_string(failure != GEN_FINE ? gen_failure_name(failure)
							: "request-refused"));
	return j;
}

static json_t *sum_object(const struct gen_report *r)
{
	json_t *j = json_object();

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		json_object_set_new(j, counters[i].name,
			json_integer((json_int_t)sum_of_qps(r, counters[i].at)));
	return j;
}

static json_t *content_json(const struct gen_report *r)
{
	return json_pack("{sI sI sI sI}", "checked",
		(json_int_t)sum_of_qps(r, AT(responder.n.checked)), "wrong",
		(json_int_t)sum_of_qps(r, AT(responder.n.wrong)), "unchecked",
		(json_int_t)sum_of_qps(r, AT(responder.n.unchecked)), "wrong_read_packets",
		(json_int_t)sum_of_qps(r, AT(read_wrong)));
}

static json_t *port_object(const struct gen_report *r, struct gen_port *port)
{
	const struct gen_endpoint_counters *n = &r->ep->n;

	return json_pack("{sI sI sI sI sI sI sI sI sI sI}", "tx_packets", (json_int_t)n->tx_packets,
		"tx_bytes", (json_int_t)n->tx_bytes, "rx_packets", (json_int_t)n->rx_packets,
		"rx_bytes", (json_int_t)n->rx_bytes, "bad_icrc", (json_int_t)n->bad_icrc, "strays",
		(json_int_t)n->strays, "others", (json_int_t)n->others, "pauses",
		(json_int_t)n->pauses, "paused_us", (json_int_t)(n->paused_ns / 1000),
		"kernel_lost", (json_int_t)gen_port_lost(port));
}

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static json_t *completion_times(const struct gen_workload *w)
{
	json_t *j = json_object();

	json_object_set_new(j, "all", histogram_json(&w->all));
	for (unsigned op = 0; op < GEN_OPS; op++)
		if (w->time[op].n > 0)
			json_object_set_new(j, gen_op_names[op], histogram_json(&w->time[op]));
	if (w->round.n > 0)
		json_object_set_new(j, "rounds", histogram_json(&w->round));
	return j;
}

static json_t *whole_report(
	struct gen_report *r, struct gen_port *port, const char *outcome, uint64_t now)
{
	const struct gen_workload *w = r->w;
	json_t *j, *qps = json_array();
	uint64_t ns = r->began > 0 ? now - r->began : 0;
	uint64_t ect = sum_of_qps(r, AT(ect)), ce = sum_of_qps(r, AT(ce));

	for (uint32_t i = 0; i < r->ep->n_qps; i++)
		json_array_append_new(qps, qp_object(&r->ep->qps[i]));
	j = json_pack("{ss si ss ss sI sf sf}", "type", "report", "v", 1, "name", r->o->name,
		"outcome", outcome, "seed", (json_int_t)r->o->seed, "duration_s", (double)ns / 1e9,
		"cpu_s", cpu_s());
	json_object_set_new(j, "messages",
		json_pack("{sI sI sI sI sI}", "posted", (json_int_t)w->total, "completed",
			(json_int_t)w->completed, "failed", (json_int_t)w->failed, "open",
			(json_int_t)w->open, "refused", (json_int_t)w->refused));
	json_object_set_new(j, "goodput_mbps",
		json_pack("{sf sf}", "tx",
			mbps_of_bytes(sum_of_qps(r, AT(requester.n.acked_bytes)), ns), "rx",
			mbps_of_bytes(sum_of_qps(r, AT(responder.n.bytes)), ns)));
	json_object_set_new(j, "fct_us", completion_times(w));
	json_object_set_new(j, "rtt_us", histogram_json(&r->ep->rtt));
	json_object_set_new(j, "ce_share", json_real(ect > 0 ? (double)ce / (double)ect : 0));
	json_object_set_new(j, "content", content_json(r));
	json_object_set_new(j, "sum", sum_object(r));
	json_object_set_new(j, "port", port_object(r, port));
	json_object_set(j, "series", r->series);
	json_object_set_new(j, "qps", qps);
	return j;
}

int gen_report_final(struct gen_report *r, struct gen_port *port, const char *outcome, uint64_t now)
{
	FILE *out = r->o->output != NULL ? fopen(r->o->output, "w") : stdout;
	json_t *j;
	int ret = 0;

	if (out == NULL) {
		hp3_message("roce-gen: --output %s: %s", r->o->output, strerror(errno));
		return -errno;
	}
	j = whole_report(r, port, outcome, now);
	if (j == NULL || json_dumpf(j, out, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0 ||
		fputc('\n', out) == EOF || fflush(out) != 0)
		ret = -EIO;
	json_decref(j);
	if (out != stdout)
		fclose(out);
	if (ret != 0)
		hp3_message("roce-gen: the report cannot be written: is the disk full?");
	return ret;
}
