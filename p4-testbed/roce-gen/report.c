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

static json_t *qp_object(const struct gen_qp *q)
{
	const struct gen_requester *req = &q->requester;
	const struct gen_responder *rsp = &q->responder;
	char ip[INET6_ADDRSTRLEN];
	json_t *j = json_object();
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
		{"qpn", q->lqpn},
		{"peer_qpn", q->rqpn},
		{"sport", q->to.sport},
		{"tx_bytes", req->n.acked_bytes},
		{"rx_bytes", rsp->n.bytes},
		{"packets_sent", req->n.sent},
		{"retransmissions", req->n.again},
		{"timeouts", req->n.timeouts},
		{"naks_received", req->n.naks},
		{"rnr_naks_received", req->n.rnr_naks},
		{"implied_naks", req->n.implied_naks},
		{"stale_replies", req->n.stale},
		{"packets_received", rsp->n.received},
		{"messages_received", rsp->n.messages},
		{"out_of_seq_request", rsp->n.out_of_seq_request},
		{"out_of_order_packets", rsp->n.out_of_order},
		{"duplicate_request", rsp->n.duplicates},
		{"rnr_naks_sent", rsp->n.rnr_naks},
		{"overtaken", q->order.overtaken},
		{"overtaken_across_ports", q->order.overtaken_across_ports},
		{"late_duplicates", q->order.late_duplicates},
		{"cnps_sent", q->cnps_sent},
		{"cnps_received", q->cnps_received},
		{"ect", q->ect},
		{"ce", q->ce},
	};

	inet_ntop(q->to.ipv6 ? AF_INET6 : AF_INET, q->to.dst_ip, ip, sizeof(ip));
	json_object_set_new(j, "peer", json_string(ip));
	json_object_set_new(j, "loads", json_boolean(q->loads));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_object_set_new(j, counts[i].name, json_integer((json_int_t)counts[i].n));
	if (q->failed)
		json_object_set_new(j, "failure",
			json_string(req->failure != GEN_FINE ? gen_failure_name(req->failure)
							     : "request-refused"));
	return j;
}

/* Numbers of single queue pairs become sums of the same name. */
static json_t *sums_of_qps(const json_t *qps)
{
	static const char *const names[] = {"tx_bytes", "rx_bytes", "packets_sent",
		"retransmissions", "timeouts", "naks_received", "rnr_naks_received", "implied_naks",
		"stale_replies", "packets_received", "messages_received", "out_of_seq_request",
		"out_of_order_packets", "duplicate_request", "rnr_naks_sent", "overtaken",
		"overtaken_across_ports", "late_duplicates", "cnps_sent", "cnps_received", "ect",
		"ce"};
	json_t *j = json_object(), *q;
	size_t at;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_int_t sum = 0;

		json_array_foreach (qps, at, q)
			sum += json_integer_value(json_object_get(q, names[i]));
		json_object_set_new(j, names[i], json_integer(sum));
	}
	return j;
}

static json_t *content_json(const struct gen_report *r)
{
	uint64_t checked = 0, wrong = 0, unchecked = 0, reads = 0;

	for (uint32_t i = 0; i < r->ep->n_qps; i++) {
		const struct gen_qp *q = &r->ep->qps[i];

		checked += q->responder.n.checked;
		wrong += q->responder.n.wrong;
		unchecked += q->responder.n.unchecked;
		reads += q->read_wrong;
	}
	return json_pack("{sI sI sI sI}", "checked", (json_int_t)checked, "wrong",
		(json_int_t)wrong, "unchecked", (json_int_t)unchecked, "wrong_read_packets",
		(json_int_t)reads);
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
	json_t *j, *qps = json_array(), *sum;
	uint64_t ns = r->began > 0 ? now - r->began : 0;
	double ect;

	for (uint32_t i = 0; i < r->ep->n_qps; i++)
		json_array_append_new(qps, qp_object(&r->ep->qps[i]));
	sum = sums_of_qps(qps);
	ect = (double)json_integer_value(json_object_get(sum, "ect"));
	j = json_pack("{ss si ss ss sI sf sf}", "type", "report", "v", 1, "name", r->o->name,
		"outcome", outcome, "seed", (json_int_t)r->o->seed, "duration_s", (double)ns / 1e9,
		"cpu_s", cpu_s());
	json_object_set_new(j, "messages",
		json_pack("{sI sI sI sI sI}", "posted", (json_int_t)w->total, "completed",
			(json_int_t)w->completed, "failed", (json_int_t)w->failed, "open",
			(json_int_t)w->open, "refused", (json_int_t)w->refused));
	json_object_set_new(j, "goodput_mbps",
		json_pack("{sf sf}", "tx",
			mbps_of_bytes(
				(uint64_t)json_integer_value(json_object_get(sum, "tx_bytes")), ns),
			"rx",
			mbps_of_bytes(
				(uint64_t)json_integer_value(json_object_get(sum, "rx_bytes")),
				ns)));
	json_object_set_new(j, "fct_us", completion_times(w));
	json_object_set_new(j, "rtt_us", histogram_json(&r->ep->rtt));
	json_object_set_new(j, "ce_share",
		json_real(ect > 0 ? (double)json_integer_value(json_object_get(sum, "ce")) / ect
				  : 0));
	json_object_set_new(j, "content", content_json(r));
	json_object_set_new(j, "sum", sum);
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
