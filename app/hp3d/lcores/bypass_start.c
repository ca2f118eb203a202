/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rails have a bypass, and the control thread's requests. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_ethdev.h>
#include "app/hp3d/lcores/bypass_internal.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"
#include "config/devargs.h"
#include "roce/icrc.h"

#define XDP_DRIVER   "net_af_xdp"
#define XDP_HEADROOM 256u /* XDP_PACKET_HEADROOM */
#define WAIT_NS      200000000ull
#define WAIT_STEP    1000000l
#define END_NS       600000000ull
#define BYPASS_WHY   256

static struct hp3d_bypass *bypasses[HP3_CONFIG_RAILS_MAX];
static unsigned n_bypasses;

/* The two ports of a rail; each fails open by its own driver. */
struct sides {
	int ifindex[2]; /* by direction */
	bool by_xdp[2];
};

/* 0; -ENOENT: a port cannot fail open, see `why`. Another error: it is not known whether both ports
 * can, and an earlier hp3d may have left programs there. */
static int read_sides(
	const struct hp3_config *cfg, unsigned rail, struct sides *s, char *why, size_t cap)
{
	const struct hp3_config_rail *r = &cfg->rails[rail];

	for (unsigned dir = 0; dir < 2; dir++) {
		const char *reason = hp3d_xdp_unsupported(dir == HP3_DIR_TX ? r->rnic : r->net);
		struct rte_eth_dev_info info = {0};
		int err = 0;

		if (reason == NULL)
			err = rte_eth_dev_info_get(hp3d_rail_ports(rail)->in[dir], &info);
		if (err != 0)
			return err;
		if (reason == NULL && info.if_index == 0)
			reason = "has no interface";
		if (reason != NULL) {
			snprintf(why, cap, "%s %s", dir == HP3_DIR_TX ? "rnic" : "net", reason);
			return -ENOENT;
		}
		s->ifindex[dir] = (int)info.if_index;
		s->by_xdp[dir] = strcmp(info.driver_name, XDP_DRIVER) == 0;
	}
	return 0;
}

static uint32_t mtu_of(int ifindex)
{
	uint32_t mtu = hp3d_interface_mtu((unsigned)ifindex);

	return mtu != 0 ? mtu : RTE_ETHER_MTU;
}

/*
 * net_af_packet's ring truncates frames beyond the MTU, not counting the outer VLAN tag, which the
 * kernel has removed. net_af_xdp has both tags in the frame, and drops frames larger than its
 * buffers.
 */
static uint32_t frame_max(int ifindex, bool by_xdp, uint32_t mbuf_bytes)
{
	uint32_t most = mtu_of(ifindex) + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;

	if (!by_xdp)
		return most;
	return RTE_MIN(most + RTE_VLAN_HLEN, mbuf_bytes - RTE_PKTMBUF_HEADROOM - XDP_HEADROOM);
}

static int open_sides(
	struct hp3d_bypass *b, const struct hp3_config *cfg, const struct sides *s, char *why)
{
	int err = 0;

	for (unsigned dir = 0; dir < 2 && err == 0; dir++) {
		const struct hp3_bypass_options o = {.ifindex = s->ifindex[dir],
			.peer = s->ifindex[!dir],
			.owner = b->owner,
			.stale_ns = b->stale_ns,
			.frame_max =
				frame_max(s->ifindex[dir], s->by_xdp[dir], cfg->eal.mbuf_bytes),
			.own_port = (uint16_t)cfg->probes.port,
			.from_network = dir == HP3_DIR_RX,
			.by_xdp = s->by_xdp[dir],
			.port_weight = hp3_icrc_sport_weight};

		err = hp3_bypass_open(&o, &b->side[dir], why, BYPASS_WHY);
		if (err == 0)
			b->port[dir] = hp3_bypass_port(b->side[dir]);
	}
	/* Both taps are attached. From now on, frames that the taps do not take must go direct. */
	for (unsigned dir = 0; dir < 2 && err == 0; dir++)
		err = hp3_bypass_attach(b->side[dir], b->side[!dir], why, BYPASS_WHY);
	return err;
}

/* 0, or a negative errno: a port may have stopped receiving. */
static int free_rail(unsigned rail)
{
	int err = 0;

	if (bypasses[rail] == NULL)
		return 0;
	for (unsigned dir = 0; dir < 2; dir++) {
		int ret = hp3_bypass_close(bypasses[rail]->side[dir]);

		err = ret < 0 ? ret : err;
	}
	free(bypasses[rail]);
	bypasses[rail] = NULL;
	return err;
}

static int make_rail(
	const struct hp3_config *cfg, unsigned rail, const struct sides *s, char why[BYPASS_WHY])
{
	struct hp3d_bypass *b;
	int err;

	if (posix_memalign((void **)&b, RTE_CACHE_LINE_SIZE, sizeof(*b)) != 0) {
		snprintf(why, BYPASS_WHY, "no memory");
		return -ENOMEM;
	}
	memset(b, 0, sizeof(*b));
	b->rail = rail;
	b->owner = hp3_bypass_now();
	b->stale_ns = cfg->bypass.stale_ms * 1000000ull;
	bypasses[rail] = b;
	err = open_sides(b, cfg, s, why);
	if (err < 0 && free_rail(rail) < 0)
		err = -ENOTRECOVERABLE;
	return err;
}

/* A rail without fail-open forwards everything itself, so programs of an earlier hp3d must go. */
static int clear_rail(const struct hp3_config *cfg, unsigned rail, const int ifindex[2])
{
	for (unsigned dir = 0; dir < 2; dir++) {
		char why[BYPASS_WHY];
		int err;

		if (!hp3_bypass_attached(ifindex[dir]))
			continue;
		err = hp3_bypass_remove(ifindex[dir], why, sizeof(why));
		if (err < 0 && err != -ENOENT) {
			fprintf(stderr,
				"hp3d: [rail.%s] %s: programs of an earlier hp3d forward frames, "
				"and cannot be removed: %s\n",
				cfg->rails[rail].name, dir == HP3_DIR_TX ? "rnic" : "net", why);
			return -1;
		}
	}
	return 0;
}

/* The rail cannot fail open. 0, or -1: the configuration demands it. */
static int start_without_bypass(const struct hp3_config *cfg, unsigned rail, const char *why)
{
	fprintf(stderr,
		"hp3d: [rail.%s]: no fail-open: %s; if hp3d dies or hangs, nothing passes\n",
		cfg->rails[rail].name, why);
	if (cfg->bypass.fail_open != HP3_FAIL_OPEN_ON)
		return 0;
	fprintf(stderr, "hp3d: [bypass] fail_open = on: set it to auto to run without\n");
	return -1;
}

/* net_af_xdp was opened with hp3's program: without a bypass, it receives nothing. */
static int without_xdp(const struct hp3_config *cfg, unsigned rail, const char *why)
{
	fprintf(stderr,
		"hp3d: [rail.%s]: no fail-open: %s; set [bypass] fail_open = off to run without\n",
		cfg->rails[rail].name, why);
	return -1;
}

/* Rails of a bond share their flows, so either all of them fail open, or none. True: another rail
 * cannot, see `why`. */
static bool lacks_bond(const struct hp3_config *cfg, unsigned rail, char why[BYPASS_WHY])
{
	char others[BYPASS_WHY / 2];
	struct sides s;

	for (unsigned other = hp3d_rail_ports(rail)->next; other != rail;
		other = hp3d_rail_ports(other)->next) {
		if (read_sides(cfg, other, &s, others, sizeof(others)) != -ENOENT)
			continue;
		snprintf(why, BYPASS_WHY, "[rail.%s], which is in the same bond, cannot: %s",
			cfg->rails[other].name, others);
		return true;
	}
	return false;
}

static int start_rail(const struct hp3_config *cfg, unsigned rail)
{
	char why[BYPASS_WHY];
	struct sides s = {0};
	int err;

	err = read_sides(cfg, rail, &s, why, sizeof(why));
	if (err == -ENOENT)
		return cfg->bypass.fail_open == HP3_FAIL_OPEN_OFF
			       ? 0
			       : start_without_bypass(cfg, rail, why);
	if (err < 0) {
		fprintf(stderr, "hp3d: [rail.%s]: its driver does not report its interface: %s\n",
			cfg->rails[rail].name, strerror(-err));
		return -1;
	}
	if (cfg->bypass.fail_open == HP3_FAIL_OPEN_OFF)
		return clear_rail(cfg, rail, s.ifindex);
	if (cfg->eal.lcores > 1 && !hp3d_rail_ports(rail)->whole) {
		if (clear_rail(cfg, rail, s.ifindex) < 0)
			return -1;
		return start_without_bypass(
			cfg, rail, "several lcores share the rail (spread = software)");
	}
	if (lacks_bond(cfg, rail, why)) {
		if (s.by_xdp[0] || s.by_xdp[1])
			return without_xdp(cfg, rail, why);
		return clear_rail(cfg, rail, s.ifindex) < 0 ? -1
							    : start_without_bypass(cfg, rail, why);
	}
	err = make_rail(cfg, rail, &s, why);
	if (err == 0)
		return 0;
	if (err == -EPROTO || err == -ENOTRECOVERABLE) {
		fprintf(stderr, "hp3d: [rail.%s]: %s%s\n", cfg->rails[rail].name, why,
			err == -EPROTO ? ""
				       : "; the set-up could not be undone, so nothing would pass");
		return -1;
	}
	if (s.by_xdp[0] || s.by_xdp[1])
		return without_xdp(cfg, rail, why);
	return clear_rail(cfg, rail, s.ifindex) < 0 ? -1 : start_without_bypass(cfg, rail, why);
}

int hp3d_bypass_start(const struct hp3_config *cfg)
{
	if (hp3_config_is_verbs_mode(cfg))
		return 0; /* no port, nothing to forward */
	for (n_bypasses = 0; n_bypasses < hp3d_rail_count(); n_bypasses++) {
		if (start_rail(cfg, n_bypasses) < 0) {
			hp3d_bypass_stop();
			return -1;
		}
	}
	return 0;
}

/* Has the request taken effect? */
static bool is_done(const struct hp3d_bypass *b, enum hp3d_bypass_wish wish)
{
	static const enum hp3d_bypass_phase leads_to[] = {[HP3D_BYPASS_TAKE] = HP3D_BYPASS_RUNNING,
		[HP3D_BYPASS_LEAVE] = HP3D_BYPASS_QUIET,
		[HP3D_BYPASS_END] = HP3D_BYPASS_WAITING};
	enum hp3d_bypass_phase phase = __atomic_load_n(&b->phase, __ATOMIC_ACQUIRE);

	return phase == leads_to[wish] || phase == HP3D_BYPASS_REPLACED;
}

void hp3d_bypass_wait(void)
{
	const struct timespec step = {.tv_nsec = WAIT_STEP};
	uint64_t end = hp3d_now() + WAIT_NS;

	for (unsigned rail = 0; rail < n_bypasses; rail++) {
		const struct hp3d_bypass *b = bypasses[rail];

		while (b != NULL && !is_done(b, HP3D_BYPASS_TAKE) && hp3d_now() < end)
			nanosleep(&step, NULL);
	}
}

void hp3d_bypass_end(void (*poll)(int timeout_ms))
{
	uint64_t end = hp3d_now() + END_NS;

	for (unsigned rail = 0; rail < n_bypasses; rail++) {
		if (bypasses[rail] != NULL)
			hp3d_bypass_wish(bypasses[rail], HP3D_BYPASS_END);
	}
	for (unsigned rail = 0; rail < n_bypasses; rail++) {
		while (bypasses[rail] != NULL && !is_done(bypasses[rail], HP3D_BYPASS_END) &&
			hp3d_now() < end)
			poll(1);
	}
}

uint64_t hp3d_bypass_sleep_ns(void)
{
	uint64_t ns = UINT64_MAX;

	for (unsigned rail = 0; rail < n_bypasses; rail++) {
		if (bypasses[rail] != NULL)
			ns = RTE_MIN(ns, bypasses[rail]->stale_ns / 4);
	}
	return ns;
}

void hp3d_bypass_stop(void)
{
	for (unsigned rail = 0; rail < HP3_CONFIG_RAILS_MAX; rail++)
		free_rail(rail);
}

/* The interface of a port that fails open; 0: there is none. */
static int interface_of(const char *devargs, char name[IF_NAMESIZE])
{
	char driver[32];

	hp3_devargs_driver(devargs, driver, sizeof(driver));
	if (strcmp(driver, "net_pcap") == 0 || !hp3_devargs_interface(devargs, name, IF_NAMESIZE))
		return 0;
	return (int)if_nametoindex(name);
}

/* An hp3d that hangs receives no packets: without the programs, no packet would pass. */
static int detach_port(int ifindex, const char *name, char why[BYPASS_WHY])
{
	pid_t owner = hp3d_claim_interface(name);

	if (owner == 0)
		return hp3_bypass_remove(ifindex, why, BYPASS_WHY);
	snprintf(why, BYPASS_WHY,
		"hp3d of process %d uses it: stop it first; if it hangs, kill it (kill -9 %d)",
		owner, owner);
	return -EBUSY;
}

int hp3d_bypass_detach(const struct hp3_config *cfg)
{
	int ret = 0;

	for (unsigned i = 0; i < 2 * cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &cfg->rails[i / 2];
		char why[BYPASS_WHY], name[IF_NAMESIZE];
		int ifindex = interface_of(i % 2 == 0 ? r->rnic : r->net, name), err;

		if (ifindex == 0)
			continue;
		err = detach_port(ifindex, name, why);
		if (err == 0 || err == -ENOENT) {
			printf("[rail.%s] %s: %s\n", r->name, i % 2 == 0 ? "rnic" : "net",
				err == 0 ? "detached" : "nothing is attached");
			continue;
		}
		fprintf(stderr, "hp3d: [rail.%s] %s: %s\n", r->name, i % 2 == 0 ? "rnic" : "net",
			why);
		ret = -1;
	}
	return ret;
}

struct hp3d_bypass *hp3d_bypass(unsigned rail)
{
	return bypasses[rail];
}

void hp3d_bypass_wish(struct hp3d_bypass *b, enum hp3d_bypass_wish wish)
{
	__atomic_store_n(&b->wish, wish, __ATOMIC_RELEASE);
}

void hp3d_bypass_close(struct hp3d_bypass *b, bool closed)
{
	b->port[0]->closed = b->port[1]->closed = closed;
}

struct hp3d_bypass_info hp3d_bypass_info(const struct hp3d_bypass *b)
{
	return (struct hp3d_bypass_info){.phase = __atomic_load_n(&b->phase, __ATOMIC_ACQUIRE),
		.hangs = __atomic_load_n(&b->hangs, __ATOMIC_RELAXED),
		.left_behind = __atomic_load_n(&b->left_behind, __ATOMIC_RELAXED),
		.owner_pid = b->port[0]->pid,
		.restored = __atomic_load_n(&b->restored, __ATOMIC_RELAXED),
		.not_kept = __atomic_load_n(&b->not_kept, __ATOMIC_RELAXED),
		.forbidden = __atomic_load_n(&b->forbidden, __ATOMIC_RELAXED),
		.dir = {hp3_bypass_counts(b->side[0]), hp3_bypass_counts(b->side[1])}};
}

bool hp3d_bypass_is_direct(enum hp3d_bypass_phase phase)
{
	return phase != HP3D_BYPASS_RUNNING && phase != HP3D_BYPASS_SETTLING &&
	       phase != HP3D_BYPASS_LEAVING;
}

const char *hp3d_bypass_phase_name(enum hp3d_bypass_phase phase)
{
	static const char *const names[HP3D_BYPASS_PHASES] = {[HP3D_BYPASS_WAITING] = "waiting",
		[HP3D_BYPASS_QUIET] = "direct",
		[HP3D_BYPASS_SETTLING] = "settling",
		[HP3D_BYPASS_RUNNING] = "taken",
		[HP3D_BYPASS_LEAVING] = "leaving",
		[HP3D_BYPASS_REPLACED] = "replaced"};

	return names[phase];
}
