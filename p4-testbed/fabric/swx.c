/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/message.h"
#include "p4-testbed/fabric/swx.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_ether.h>
#include <rte_log.h>
#include "app/dpdk/failure.h"
#include "p4-testbed/spec/program.h"
#include "roce/wire.h"

#define RUN_STEP 32u /* instructions between two looks */

static void *port_create(void *args)
{
	return args;
}

static void port_free(void *port)
{
	/* It is part of struct hp3_swx. */
}

static int port_rx(void *port, struct rte_swx_pkt *pkt)
{
	struct hp3_swx_port *p = port;
	struct hp3_swx *sw = p->sw;

	if (sw->slot == NULL || p->port != sw->slot_port)
		return 0;
	*pkt = (struct rte_swx_pkt){.handle = sw->slot,
		.pkt = sw->slot->buf_addr,
		.offset = sw->slot->data_off,
		.length = sw->slot->data_len};
	sw->slot = NULL;
	return 1;
}

/* Length of the frame by its IP header, which is_whole() has held against the frame. */
static uint32_t datagram_end(const uint8_t *frame, uint32_t len)
{
	if (hp3_be16(frame + 12) == RTE_ETHER_TYPE_IPV6)
		return 54u + hp3_be16(frame + 18);
	if (hp3_be16(frame + 12) == RTE_ETHER_TYPE_IPV4)
		return 14u + hp3_be16(frame + 16);
	return len;
}

/* What is left for the headers behind the first 8 bytes of transport, which are extracted. */
static bool holds_bth(const uint8_t *l4, uint8_t protocol, uint32_t left)
{
	return left >= 8 && (protocol != 17 || hp3_be16(l4 + 2) != 4791 || left >= 8 + 12);
}

/*
 * The parser's and the length checks of the .p4 (parser_error, RFC 1812 5.2.2, RFC 8200 3): all
 * headers that the program extracts lie in the frame, and the datagram does.
 */
static bool is_whole(const uint8_t *p, uint32_t len)
{
	if (len < 14)
		return false;
	if (hp3_be16(p + 12) == RTE_ETHER_TYPE_IPV4) {
		if (len < 34)
			return false;
		if (p[14] != 0x45)
			return true; /* the program drops it */
		if ((hp3_be16(p + 20) & 0x3fff) == 0 && !holds_bth(p + 34, p[23], len - 34))
			return false;
		return hp3_be16(p + 16) >= 20 && datagram_end(p, len) <= len;
	}
	if (hp3_be16(p + 12) == RTE_ETHER_TYPE_IPV6) {
		if (len < 54)
			return false;
		if ((p[20] == 6 || p[20] == 17 || p[20] == 58) &&
			!holds_bth(p + 54, p[20], len - 54))
			return false;
		return datagram_end(p, len) <= len;
	}
	return true;
}

static void port_tx(void *port, struct rte_swx_pkt *pkt)
{
	struct hp3_swx_port *p = port;
	struct hp3_swx *sw = p->sw;
	struct rte_mbuf *m = pkt->handle;
	uint32_t len = datagram_end(pkt->pkt + pkt->offset, pkt->length);

	m->data_off = (uint16_t)pkt->offset;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	sw->busy = false;
	if (p->port >= sw->n_ports)
		rte_pktmbuf_free(m);
	else
		sw->ops->out(sw->arg, sw, p->port, sw->priority, m);
}

/* The program mirrors nothing. */
static void port_clone(void *port, struct rte_swx_pkt *pkt)
{
}

static void port_clone_cut(void *port, struct rte_swx_pkt *pkt, uint32_t length)
{
	port_clone(port, pkt);
}

static void in_stats(void *port, struct rte_swx_port_in_stats *stats)
{
	/* The program counts by itself. */
	memset(stats, 0, sizeof(*stats));
}

static void out_stats(void *port, struct rte_swx_port_out_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
}

static struct rte_swx_port_in_ops in_ops = {port_create, port_free, port_rx, in_stats};
static struct rte_swx_port_out_ops out_ops = {
	port_create, port_free, port_tx, port_clone, port_clone_cut, NULL, out_stats};

static uint32_t view_depth(void *arg, uint32_t port, uint32_t priority)
{
	struct hp3_swx *sw = arg;

	sw->priority = priority;
	return sw->ops->depth(sw->arg, sw, port, priority);
}

static int add_ports(struct hp3_swx *sw)
{
	int ret = rte_swx_pipeline_port_in_type_register(sw->pipeline, "fabric_in", &in_ops);

	if (ret == 0)
		ret = rte_swx_pipeline_port_out_type_register(sw->pipeline, "fabric_out", &out_ops);
	for (uint32_t i = 0; i < sw->n_inputs && ret == 0; i++) {
		sw->in[i] = (struct hp3_swx_port){sw, i};
		ret = rte_swx_pipeline_port_in_config(sw->pipeline, i, "fabric_in", &sw->in[i]);
	}
	for (uint32_t i = 0; i <= HP3_PROGRAM_DROP_PORT && ret == 0; i++) {
		sw->out[i] = (struct hp3_swx_port){sw, i};
		ret = rte_swx_pipeline_port_out_config(sw->pipeline, i, "fabric_out", &sw->out[i]);
	}
	return ret;
}

static int add_entry(void *arg, const struct hp3_entry *e)
{
	struct hp3_swx *sw = arg;
	struct rte_swx_table_entry *entry;
	char text[HP3_ENTRY_TEXT];
	int blank, ret;

	hp3_entry_swx(e, text, sizeof(text));
	entry = rte_swx_ctl_pipeline_table_entry_read(sw->ctl, e->table, text, &blank);
	if (entry == NULL) {
		hp3_message("hp3-fabric: table %s refuses the entry \"%s\"", e->table, text);
		return -EINVAL;
	}
	if (e->n_keys > 0)
		ret = rte_swx_ctl_pipeline_table_entry_add(sw->ctl, e->table, entry);
	else
		ret = rte_swx_ctl_pipeline_table_default_entry_add(sw->ctl, e->table, entry);
	free(entry->key);
	free(entry->key_mask);
	free(entry->action_data);
	free(entry);
	return ret;
}

static int set_icmp_rate(struct hp3_swx *sw, const struct hp3_topo *topo)
{
	uint64_t rate = (uint64_t)topo->icmp.rate_pps * HP3_PROGRAM_ICMP_COST;
	uint64_t burst =
		(uint64_t)HP3_ENTRY_ICMP_BURST(topo->icmp.rate_pps) * HP3_PROGRAM_ICMP_COST;
	struct rte_meter_trtcm_params params = {
		.cir = rate, .pir = rate, .cbs = burst, .pbs = burst};
	int ret = rte_swx_ctl_meter_profile_add(sw->pipeline, "icmp", &params);

	return ret == 0 ? rte_swx_ctl_meter_set(sw->pipeline, "icmp_rate", 0, "icmp") : ret;
}

int hp3_swx_open(struct hp3_swx *sw, const struct hp3_net *net, uint32_t index,
	const struct hp3_swx_ops *ops, void *arg)
{
	const char *what = "ports";
	char name[32];
	int ret;

	*sw = (struct hp3_swx){
		.index = index, .n_ports = net->sw[index].n_ports, .ops = ops, .arg = arg};
	sw->view = (struct hp3_queue_view){view_depth, sw, net->sw[index].seed};
	for (sw->n_inputs = 1; sw->n_inputs < sw->n_ports;)
		sw->n_inputs *= 2;
	hp3_extern_bind(index, &sw->view);
	snprintf(name, sizeof(name), "%s", net->sw[index].name);
	ret = rte_swx_pipeline_config(&sw->pipeline, name, 0);
	if (ret == 0)
		ret = add_ports(sw);
	if (ret == 0)
		ret = hp3_program_load(sw->pipeline, index, &what);
	if (ret == 0) {
		what = "table entries";
		sw->ctl = rte_swx_ctl_pipeline_create(sw->pipeline);
		ret = sw->ctl != NULL ? hp3_entries_each(net, index, add_entry, sw) : -ENOMEM;
	}
	if (ret == 0)
		ret = rte_swx_ctl_pipeline_commit(sw->ctl, 1);
	if (ret == 0) {
		what = "icmp rate";
		ret = set_icmp_rate(sw, &net->topo);
	}
	if (ret != 0) {
		hp3_message("hp3-fabric: switch %s: %s: %s", name, what,
			hp3_dpdk_failure(-ret, "raise --memory", "see the lines of DPDK above"));
		hp3_swx_close(sw);
	}
	return ret;
}

void hp3_swx_close(struct hp3_swx *sw)
{
	/* 22.11 frees a wildcard table's memory once too often, and says so. */
	rte_log_set_level(RTE_LOGTYPE_EAL, RTE_LOG_EMERG);
	if (sw->ctl != NULL)
		rte_swx_ctl_pipeline_free(sw->ctl);
	if (sw->pipeline != NULL)
		rte_swx_pipeline_free(sw->pipeline);
	sw->ctl = NULL;
	sw->pipeline = NULL;
}

int hp3_swx_add(struct hp3_swx *sw, const struct hp3_entry *e)
{
	int ret = add_entry(sw, e);

	return ret == 0 ? rte_swx_ctl_pipeline_commit(sw->ctl, 1) : ret;
}

int hp3_swx_reroute(struct hp3_swx *sw, const struct hp3_net *net)
{
	int ret = hp3_entries_groups(net, sw->index, add_entry, sw);

	return ret == 0 ? rte_swx_ctl_pipeline_commit(sw->ctl, 1) : ret;
}

void hp3_swx_process(struct hp3_swx *sw, uint32_t port, struct rte_mbuf *m)
{
	/* SWX extracts headers without asking for the packet's length. */
	if (!is_whole(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len)) {
		uint64_t n = hp3_swx_counter(sw, "drops_packets", HP3_DROP_BAD_HEADER);

		rte_swx_ctl_pipeline_regarray_write(
			sw->pipeline, "drops_packets", HP3_DROP_BAD_HEADER, n + 1);
		rte_pktmbuf_free(m);
		return;
	}
	sw->slot = m;
	sw->slot_port = port;
	sw->busy = true;
	while (sw->busy)
		rte_swx_pipeline_run(sw->pipeline, RUN_STEP);
}

uint64_t hp3_swx_counter(const struct hp3_swx *sw, const char *name, uint32_t index)
{
	uint64_t v = 0;

	return rte_swx_ctl_pipeline_regarray_read(sw->pipeline, name, index, &v) == 0 ? v : 0;
}
