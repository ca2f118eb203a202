/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Access to this host: files below a root (sysfs, procfs, /boot), and functions for information
 * that no file has. Tests use another root and other functions, to emulate other hardware.
 */
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offloads that matter to a program that takes frames from an interface: names in ethtool -k. */
#define HP3_OFFLOADS(X)                                                                            \
	X(TX_CHECKSUM, "tx-checksum-ip-generic")                                                   \
	X(GRO, "rx-gro")                                                                           \
	X(GRO_LIST, "rx-gro-list")                                                                 \
	X(UDP_GRO, "rx-udp-gro-forwarding")                                                        \
	X(LRO, "rx-lro")                                                                           \
	X(RX_VLAN, "rx-vlan-hw-parse")                                                             \
	X(TX_VLAN, "tx-vlan-hw-insert")

enum hp3_offload {
#define X(sym, name) HP3_OFFLOAD_##sym,
	HP3_OFFLOADS(X)
#undef X
		HP3_OFFLOAD_MAX
};

static inline bool hp3_has_offload(uint32_t offloads, enum hp3_offload which)
{
	return offloads >> which & 1;
}

/* The other end of a veth pair, and how to run a command there. */
struct hp3_interface_peer {
	bool found;
	char name[IFNAMSIZ];
	char inside[128]; /* prefix of a command there: "", or "ip netns exec h1 " */
	uint32_t offloads;
};

/*
 * A macvlan or an ipvlan: several interfaces share one device, and the kernel gives each of them
 * only frames for its own addresses. A macvlan in mode passthru is no such interface: it gets all
 * frames of the device.
 */
struct hp3_shared_device {
	char name[IFNAMSIZ]; /* the macvlan or ipvlan; "": there is none */
	char kind[16]; /* macvlan, macvtap, ipvlan, ipvtap */
	char mode[24]; /* of a macvlan or macvtap; otherwise "" */
	char below[IFNAMSIZ]; /* the device; "": it is in another network namespace */
};

struct hp3_interface {
	char name[IFNAMSIZ];
	char kind[16]; /* veth, bond, vlan ...; "": a device */
	char bus[32]; /* address on the bus of the device, such as 0000:3b:00.2; "": none */
	unsigned index, flags; /* IFF_UP, IFF_NOARP ... */
	unsigned mtu; /* bytes */
	bool carrier;
	bool no_ethernet; /* its frames have no Ethernet header */
	char master[IFNAMSIZ]; /* the bond or bridge that it belongs to; "": none */
	uint32_t offloads; /* bits of enum hp3_offload */
	uint32_t rx_ring, rx_ring_max; /* descriptors; 0: not known */
	struct hp3_interface_peer peer;
	struct hp3_shared_device shared; /* that this interface is, or that is below it (VLAN) */
};

/* Traffic of the host itself that arrives at an interface. */
struct hp3_own_traffic {
	char address[64]; /* an address of the host that is not link-local; "": none */
	char upper[IFNAMSIZ]; /* interface above (VLAN, bridge) with this address; "": none */
	bool default_route;
	/* A router advertisement may have brought the address or the route, and may do so again. */
	bool advertised;
	/* A bridge or bond, and its port: the interface, or one above it. "": none */
	char master[IFNAMSIZ], master_kind[16], member[IFNAMSIZ];
};

/* A virtual function of a device (SR-IOV). */
struct hp3_vf {
	char pf[IFNAMSIZ]; /* interface of the physical function */
	unsigned number;
	bool found; /* the kernel has reported it */
	bool spoof_check; /* the device drops frames with another source address (spoofchk on) */
	bool untrusted; /* the device may refuse to deliver frames for others (trust off) */
};

struct hp3_host {
	const char *root; /* "": the host itself */
	/* False: no such interface (errno ENODEV), or no information about it. */
	bool (*interface)(const char *name, struct hp3_interface *out);
	void (*own_traffic)(const struct hp3_interface *itf, struct hp3_own_traffic *out);
	/* Reads the VF `number` of the interface `pf`. False: there is no information. */
	bool (*vf)(const char *pf, unsigned number, struct hp3_vf *out);
	int (*tc_bpf)(void); /* 0, or a negative errno: the kernel refuses BPF programs for tc */
	bool (*has_symbol)(const char *library, const char *symbol);
	bool (*clock_synchronised)(void);
	uint32_t (*send_buffer)(void); /* bytes of a new socket's send buffer */
	bool (*may_use)(int cap); /* capabilities(7) */
};

/* This host. */
extern const struct hp3_host hp3_host;

/* The first line of a file below the root, without its end; false: the file cannot be read. */
bool hp3_host_line(const struct hp3_host *h, char *buf, size_t cap, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The number at the beginning of a file; `none` if there is no number. */
long long hp3_host_number(const struct hp3_host *h, long long none, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool hp3_host_exists(const struct hp3_host *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool hp3_host_writable(const struct hp3_host *h, const char *path);
/* The last part of the path to which a symbolic link points. */
bool hp3_host_link(const struct hp3_host *h, char *buf, size_t cap, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The rest of the line that begins with `key`, without the blanks and the colon after `key`. */
bool hp3_host_field(
	const struct hp3_host *h, const char *path, const char *key, char *buf, size_t cap);
/* Calls fn for every entry of a directory, in the order of names. */
void hp3_host_each(const struct hp3_host *h, const char *dir,
	void (*fn)(void *arg, const char *name), void *arg);

/* What the kernel reports about an interface (rtnetlink). */
struct hp3_link_info {
	struct hp3_interface itf;
	/* interface index of a veth's other end, in the namespace of that end; for a VLAN, macvlan
	 * or ipvlan: of the interface below */
	unsigned peer;
	/* id of that namespace, as our namespace knows it; -1: it is our namespace */
	int peer_nsid;
	unsigned master; /* interface index; 0: none */
	unsigned mode; /* of a macvlan or macvtap: enum macvlan_mode; otherwise 0 */
	bool no_promisc; /* a macvlan or macvtap in mode passthru with the flag nopromisc */
};

/* Sends a request and passes its answers to `take`. Returns 0, or a negative errno. */
int hp3_netlink(struct nlmsghdr *request, mnl_cb_t take, void *arg);
/* Reads an interface by name; if `name` is NULL, by index. */
int hp3_link_by(const char *name, unsigned index, struct hp3_link_info *l);
/* Writes the interface that a message of the kernel (RTM_NEWLINK) describes to the
 * hp3_link_info at `arg`, which must be zero. For mnl_cb_run(). */
int hp3_link_take(const struct nlmsghdr *nlh, void *arg);
void hp3_link_offloads(struct hp3_interface *itf);
/* Finds the macvlan or ipvlan that the interface is, or that is below it: sets l->itf.shared. */
void hp3_link_shared(struct hp3_link_info *l);
bool hp3_link_vf(const char *pf, unsigned number, struct hp3_vf *out); /* vf of hp3_host */
/* Writes the settings of the VF arg->number in a message of the kernel (RTM_NEWLINK) to the hp3_vf
 * at `arg`. For mnl_cb_run(). */
int hp3_link_take_vf(const struct nlmsghdr *nlh, void *arg);
/* Which addresses, routes and masters of this host use the interface (own_traffic of hp3_host). */
void hp3_link_own_traffic(const struct hp3_interface *itf, struct hp3_own_traffic *out);
/* Looks for the other end of a veth in the namespaces of this host that can be entered. */
void hp3_peer_look(struct hp3_link_info *l);
