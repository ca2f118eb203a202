/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/ports.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/pipe/memory.h"
#include "app/hp3d/pipe/sockets.h"
#include "config/bonds.h"
#include "config/devargs.h"

#define POOL_CACHE 256u
#define PORT_WHY   256
#define ETH_EXTRA  (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN)

static struct hp3d_rail_ports rail_ports[HP3_CONFIG_RAILS_MAX];
static unsigned n_rail_ports;
static struct hp3d_spread spread;
static uint16_t started[2 * HP3_CONFIG_RAILS_MAX];
static unsigned n_started;

struct where {
	const char *rail, *side, *devargs;
};

#define MORE_MEMORY "raise [eal] memory_mb or lower mbufs"

static int fail_port(const struct where *w, const char *what, int err, const char *fix)
{
	fprintf(stderr, "hp3d: [rail.%s] %s = \"%s\": %s: %s\n", w->rail, w->side, w->devargs, what,
		hp3_dpdk_failure(-err, MORE_MEMORY, fix));
	return -1;
}

/* Advice on errors of rte_dev_probe(). Without the driver's library, no bus finds the name. Virtual
 * drivers return only -1. */
static const char *advice_on_probe(int err)
{
	if (err == -EFAULT || err == -ENODEV)
		return "DPDK has no such driver here, or it found no device: install the driver's "
		       "library, check its name and arguments";
	return "check the driver's name, its arguments, that the interface exists and that hp3d "
	       "may use it";
}

static int probe_device(const struct where *w, bool fails_open, uint16_t *port)
{
	char name[HP3_CONFIG_DEVARGS_MAX] = "", devargs[2 * HP3_CONFIG_DEVARGS_MAX], why[PORT_WHY];
	int ret;

	if (hp3_devargs_interface(w->devargs, name, sizeof(name))) {
		pid_t owner = hp3d_claim_interface(name);

		if (owner != 0) {
			fprintf(stderr,
				"hp3d: [rail.%s] %s = \"%s\": the hp3d of process %d works on %s; "
				"stop that one (kill %d), or use another interface\n",
				w->rail, w->side, w->devargs, (int)owner, name, (int)owner);
			return -1;
		}
	}
	ret = hp3d_xdp_devargs(w->devargs, fails_open, devargs, sizeof(devargs), why, sizeof(why));
	if (ret < 0) {
		fprintf(stderr, "hp3d: [rail.%s] %s = \"%s\": %s\n", w->rail, w->side, w->devargs,
			why);
		return -1;
	}
	hp3d_fanout_begin(name);
	ret = rte_dev_probe(devargs);
	hp3d_fanout_end();
	if (ret < 0 && ret != -EEXIST)
		return fail_port(w, "no such device", ret, advice_on_probe(ret));
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(w->devargs, ","), w->devargs);
	ret = rte_eth_dev_get_port_by_name(name, port);
	if (ret < 0)
		return fail_port(w, "the device made no Ethernet port", ret,
			"use a network driver (net_...)");
	return 0;
}

/* Frames must fit one buffer: RoCE packets in several buffers could not be held or rewritten. For
 * kernel interfaces DPDK always reports 1500; app/doctor checks those. */
static int check_mtu(const struct where *w, uint16_t port, uint32_t mbuf_bytes)
{
	uint32_t room = mbuf_bytes - RTE_PKTMBUF_HEADROOM;
	uint16_t mtu;

	if (rte_eth_dev_get_mtu(port, &mtu) != 0 || (uint32_t)mtu + ETH_EXTRA <= room)
		return 0;
	fprintf(stderr,
		"hp3d: [rail.%s] %s: MTU %u does not fit one buffer of %u bytes; set [eal] "
		"mbuf_bytes to at least %u or lower the interface's MTU\n",
		w->rail, w->side, mtu, room, mtu + ETH_EXTRA + RTE_PKTMBUF_HEADROOM);
	return -1;
}

/* The MTU of the largest frames that fit a buffer. By default, a NIC drops frames above 1518
 * bytes. */
static uint32_t nic_mtu(const struct where *w, uint16_t port, uint32_t mbuf_bytes)
{
	uint32_t mtu = mbuf_bytes - RTE_PKTMBUF_HEADROOM - ETH_EXTRA;
	struct rte_eth_dev_info info;

	if (strncmp(w->devargs, "net_", 4) == 0 || rte_eth_dev_info_get(port, &info) != 0)
		return 0; /* the default: the device below a virtual one sets its MTU */
	return RTE_MIN(mtu, (uint32_t)info.max_mtu);
}

/* app/doctor reports this for kernel interfaces. */
static void check_link(const struct where *w, uint16_t port)
{
	char name[HP3_CONFIG_DEVARGS_MAX];
	struct rte_eth_link link;

	if (!hp3_devargs_interface(w->devargs, name, sizeof(name)) &&
		rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_DOWN)
		fprintf(stderr,
			"hp3d: [rail.%s] %s = \"%s\": the link is down: nothing passes until it is "
			"up\n",
			w->rail, w->side, w->devargs);
}

static void report_spread(const struct where *w, unsigned lcores, const char *reason)
{
	if (reason == NULL)
		fprintf(stderr,
			"hp3d: [rail.%s] %s: the NIC spreads packets over %u lcores, by address "
			"pair (RSS)\n",
			w->rail, w->side, lcores);
	else
		fprintf(stderr,
			"hp3d: [rail.%s] %s: packets are spread over %u lcores in software, by "
			"address pair: %s\n",
			w->rail, w->side, lcores, reason);
}

/* True: NICs spread the packets. Lcores hand over only packets that a NIC put on a wrong queue. */
static bool by_nic(const struct hp3_config *cfg)
{
	return cfg->eal.lcores > 1 && cfg->eal.spread == HP3_SPREAD_NIC;
}

/* `lcores`: the number of lcores with which no lcore hands packets over. */
static int refuse_lcores(
	const struct where *w, const struct hp3_config *cfg, const char *reason, unsigned lcores)
{
	fprintf(stderr,
		"hp3d: [eal] lcores = %u: [rail.%s] %s cannot spread packets over them: %s; two "
		"that hand packets to each other are hardly faster than one, or slower; set lcores "
		"= %u, or spread = software to have them do it\n",
		cfg->eal.lcores, w->rail, w->side, reason, lcores);
	return -1;
}

static int start_port(const struct where *w, const struct hp3_config *cfg,
	struct hp3d_rail_ports *r, unsigned dir)
{
	uint16_t port = r->in[dir];
	const struct hp3d_port_wish wish = {.pool = r->pool,
		.spread = &spread,
		.one_queue = r->whole,
		.mtu = (uint16_t)nic_mtu(w, port, cfg->eal.mbuf_bytes),
		.interrupts = cfg->eal.idle == HP3_IDLE_SLEEP,
		.virtual = strncmp(w->devargs, "net_", 4) == 0};
	const char *reason, *what;
	int ret = hp3d_port_setup(port, &wish, &reason, &what);
	char text[PORT_WHY];

	snprintf(text, sizeof(text), "does not start: %s", what);
	if (ret < 0)
		return fail_port(w, text, ret,
			"see the driver's lines above; for net_af_packet framesz must fit "
			"mbuf_bytes, for others lower mbufs or mbuf_bytes");
	started[n_started++] = port;
	r->spreads[dir] = reason == NULL;
	if (reason != NULL && by_nic(cfg) && !r->whole)
		return refuse_lcores(w, cfg, reason, 1);
	if (cfg->eal.lcores > 1 && !r->whole)
		report_spread(w, cfg->eal.lcores, reason);
	/* Some virtual devices have no promiscuous mode: they always deliver everything. */
	ret = rte_eth_promiscuous_enable(port);
	if (ret < 0 && ret != -ENOTSUP)
		return fail_port(w, "cannot be made promiscuous", ret,
			"hp3d needs packets that are not addressed to it");
	check_link(w, port);
	return 0;
}

/* The two ports of a rail by direction. */
static struct where side_of_rail(const struct hp3_config_rail *r, unsigned dir)
{
	if (dir == HP3_DIR_TX)
		return (struct where){r->name, "rnic", r->rnic};
	return (struct where){r->name, "net", r->net};
}

static int find_ports(const struct hp3_config *cfg, unsigned rail)
{
	for (unsigned dir = 0; dir < 2; dir++) {
		struct where w = side_of_rail(&cfg->rails[rail], dir);

		rail_ports[rail_ports[rail].lead].keeps |= hp3d_xdp_is_driver(w.devargs);
		if (probe_device(&w, hp3d_xdp_fails_open(cfg, rail), &rail_ports[rail].in[dir]) <
				0 ||
			check_mtu(&w, rail_ports[rail].in[dir], cfg->eal.mbuf_bytes) < 0)
			return -1;
	}
	return 0;
}

/* Rails of a bond share a pool: their pipe may hold packets of each of them. */
static int make_pool(const struct hp3_config *cfg, unsigned rail)
{
	const struct hp3_config_rail *r = &cfg->rails[rail];
	char name[RTE_MEMPOOL_NAMESIZE];
	const int sockets[] = {rte_eth_dev_socket_id(rail_ports[rail].in[0]),
		rte_eth_dev_socket_id(rail_ports[rail].in[1])};

	if (rail_ports[rail].lead != rail) {
		rail_ports[rail].pool = rail_ports[rail_ports[rail].lead].pool;
		return 0;
	}
	snprintf(name, sizeof(name), "hp3d_%s", r->name);
	rail_ports[rail].pool =
		hp3d_packet_pool(cfg, name, cfg->eal.mbufs * hp3d_rail_members(rail), POOL_CACHE,
			hp3d_socket_choose(SOCKET_ID_ANY, sockets, RTE_DIM(sockets)));
	if (rail_ports[rail].pool != NULL)
		return 0;
	fprintf(stderr, "hp3d: [rail.%s]: no pool of %u packet buffers of %u bytes: %s\n", r->name,
		cfg->eal.mbufs * hp3d_rail_members(rail), cfg->eal.mbuf_bytes,
		hp3_pool_failure(rte_errno, MORE_MEMORY));
	return -1;
}

/* Why a rail cannot be spread over the lcores, and which side cannot; NULL: it can. */
static const char *reason_unspread(const struct hp3_config *cfg, unsigned rail, struct where *w)
{
	const char *reason = NULL;

	for (unsigned dir = 0; dir < 2 && reason == NULL; dir++) {
		*w = side_of_rail(&cfg->rails[rail], dir);
		reason = hp3d_port_unsupported(rail_ports[rail].in[dir], cfg->eal.lcores);
	}
	return reason;
}

/* The same for the rail's bond: its rails share their flows. */
static const char *reason_bond_unspread(
	const struct hp3_config *cfg, unsigned rail, struct where *w)
{
	unsigned member = rail;
	const char *reason;

	do {
		reason = reason_unspread(cfg, member, w);
		member = rail_ports[member].next;
	} while (reason == NULL && member != rail);
	return reason;
}

/* One lcore handles each rail that cannot be spread, and all rails of its bond. If all rails are
 * such, every lcore needs a rail or a bond. */
static int keep_whole(const struct hp3_config *cfg)
{
	const char *reason = NULL;
	unsigned whole = 0, leads = 0;
	struct where w;

	for (unsigned i = 0; i < n_rail_ports; i++) {
		rail_ports[i].whole = by_nic(cfg) && reason_bond_unspread(cfg, i, &w) != NULL;
		whole += rail_ports[i].whole;
		leads += rail_ports[i].lead == i;
	}
	if (whole == n_rail_ports && leads < cfg->eal.lcores) {
		reason = reason_bond_unspread(cfg, 0, &w);
		return refuse_lcores(&w, cfg, reason, leads);
	}
	for (unsigned i = 0; i < n_rail_ports && whole > 0; i++) {
		bool own;

		reason = reason_bond_unspread(cfg, i, &w);
		if (reason == NULL)
			continue;
		own = strcmp(w.rail, cfg->rails[i].name) == 0;
		fprintf(stderr,
			"hp3d: [rail.%s]: all packets stay on one lcore of %u, since %s%s%s%s "
			"cannot spread them: %s\n",
			cfg->rails[i].name, cfg->eal.lcores, w.side, own ? "" : " of [rail.",
			own ? "" : w.rail, own ? "" : "] in the same bond", reason);
	}
	return 0;
}

/* All ports that spread packets use one map, which has to fit the smallest indirection table. */
static void make_spread(const struct hp3_config *cfg)
{
	uint32_t table = 0;

	for (unsigned i = 0; i < 2 * n_rail_ports; i++) {
		uint16_t port = rail_ports[i / 2].in[i % 2];
		struct rte_eth_dev_info info;

		if (rail_ports[i / 2].whole ||
			hp3d_port_unsupported(port, cfg->eal.lcores) != NULL ||
			rte_eth_dev_info_get(port, &info) != 0)
			continue;
		if (table == 0 || hp3d_rss_table(&info) < table)
			table = hp3d_rss_table(&info);
	}
	hp3d_spread_init(&spread, cfg->eal.lcores, table, cfg->engine.hash_seed);
}

static void find_bonds(const struct hp3_config *cfg)
{
	for (unsigned i = 0; i < cfg->n_rails; i++) {
		rail_ports[i].lead = (uint8_t)hp3_config_lead(cfg, i);
		rail_ports[i].next = (uint8_t)hp3_config_next_member(cfg, i);
	}
}

int hp3d_ports_start(const struct hp3_config *cfg)
{
	if (hp3_config_is_verbs_mode(cfg)) { /* one rail without ports: all queue pairs are on it */
		n_rail_ports = 1;
		rail_ports[0].whole = true;
		return 0;
	}
	find_bonds(cfg);
	for (n_rail_ports = 0; n_rail_ports < cfg->n_rails; n_rail_ports++) {
		if (find_ports(cfg, n_rail_ports) < 0)
			return -1;
	}
	for (unsigned i = 0; i < 2 * n_rail_ports; i++) {
		bool lead = rail_ports[i % n_rail_ports].lead == i % n_rail_ports;

		if (lead == (i < n_rail_ports) && make_pool(cfg, i % n_rail_ports) < 0)
			return -1;
	}
	if (keep_whole(cfg) < 0)
		return -1;
	make_spread(cfg);
	for (unsigned i = 0; i < 2 * n_rail_ports; i++) {
		struct where w = side_of_rail(&cfg->rails[i / 2], i % 2);
		struct hp3d_rail_ports *r = &rail_ports[i / 2];

		if (start_port(&w, cfg, r, i % 2) < 0) {
			hp3d_ports_stop();
			return -1;
		}
	}
	return 0;
}

void hp3d_ports_stop(void)
{
	while (n_started > 0) {
		uint16_t port = started[--n_started];

		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
}

const struct hp3d_rail_ports *hp3d_rail_ports(unsigned rail)
{
	return &rail_ports[rail];
}

unsigned hp3d_rail_count(void)
{
	return n_rail_ports;
}

const struct hp3d_spread *hp3d_ports_spread(void)
{
	return &spread;
}
