/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fail-open for a port that is a kernel interface. A received frame passes two programs, one after
 * the other, on one CPU:
 *
 * - tap, a filter of hp3d's own AF_PACKET socket: does hp3d take the frame?
 * - detour, at tc ingress (clsact): drops the kernel's copy of a frame that hp3d took, and sends
 * all other frames out of the peer port.
 *
 * The tap decides, and stores the decision for the detour in per-CPU memory, so that a frame is
 * never forwarded twice. When hp3d dies, its sockets are closed one after the other. The first
 * frame that passes no tap makes both ports STALE, because requests are useless without their
 * acknowledgements. The keep-alive in the port's map is for an hp3d that hangs.
 *
 * At tc egress, frames of hp3d pass a third program, the gate. hp3d checks the state before it
 * sends, but may be descheduled before the kernel sends, while newer frames go direct. So the gate
 * checks the state again, right before transmission (rule 19).
 *
 * For net_af_packet, the kernel reassembles IPv4 fragments before the tap, while the detour gets
 * the fragments. The detour stores their IDs, and the tap does not take the reassembled datagrams.
 *
 * net_af_xdp takes frames before these two programs. So with net_af_xdp, the tap is an XDP program,
 * which stays on the interface when hp3d dies. Frames that this tap does not take reach the detour.
 * This tap itself checks that hp3d's socket exists, so the detour need not check for a tap. Frames
 * of AF_XDP sockets pass no program at egress: there is no gate.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "app/bpf/bypass.h"

#define FRAGMENTED  1024 /* fragmented datagrams at a time */
#define FRAGMENT_NS 60000000000ull /* twice the kernel's reassembly time-out */
#define TRIES       64
#define WHOLE_FRAME 0x40000

/* Constants of this port: set before the programs are loaded. */
const volatile __u64 me = 0; /* the owner of this tap */
const volatile __u32 frame_max = 0; /* longest frame that the ring holds */
const volatile __u16 own_port = 0; /* UDP port of datagrams between hp3ds; 0: none */
const volatile __u8 from_network = 0; /* the port may receive answers of switches to traces */
const volatile __u8 by_xdp = 0; /* the tap is the XDP program */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct hp3_bypass_port);
} hp3_port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hp3_bypass_cpu);
} hp3_cpu SEC(".maps");

/* The peer's hp3_port. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__uint(map_flags, BPF_F_MMAPABLE);
			__type(key, __u32);
			__type(value, struct hp3_bypass_port);
		});
} hp3_peer SEC(".maps");

struct fragment {
	__be32 saddr, daddr;
	__be16 id;
	__u8 protocol, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FRAGMENTED);
	__type(key, struct fragment);
	__type(value, __u64);
} hp3_pieces SEC(".maps");

/* Time of the last fragment. If it is not recent, the tap skips the look-up. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} hp3_last_piece SEC(".maps");

/* hp3d's sockets by queue of the interface; the kernel removes closed ones. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, HP3_BYPASS_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

#include "app/bpf/frame.h"

static __always_inline struct fragment datagram(const struct iphdr *ip)
{
	return (struct fragment){ip->saddr, ip->daddr, ip->id, ip->protocol, 0};
}

/* net_af_packet gives hp3d the TCI of an outer tag, but not its TPID. */
static __always_inline int loses_tag_type(const struct __sk_buff *skb)
{
	return skb->vlan_present && skb->vlan_proto == bpf_htons(TPID_8021AD);
}

/* Ports of flows that hp3d has moved. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HP3_BYPASS_MOVED);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hp3_bypass_flow);
	__type(value, struct hp3_bypass_ports);
} hp3_moved SEC(".maps");

#include "app/bpf/ports.h"

/*
 * True: the kernel has reassembled the datagram for the tap. The datagram's entry stays in the map:
 * the kernel sees each fragment again at egress, and fragments left in its queue may complete a
 * later datagram with the same ID.
 */
static __always_inline int was_in_pieces(const struct frame *f, __u64 now)
{
	__u32 zero = 0;
	__u64 *last = bpf_map_lookup_elem(&hp3_last_piece, &zero), *seen;
	struct fragment key;
	struct iphdr ip;

	if (last == NULL || *last == 0 || now - *last > FRAGMENT_NS ||
		f->protocol != bpf_htons(ETH_P_IP) || !read_ip4(f, f->l3, &ip))
		return 0;
	key = datagram(&ip);
	seen = bpf_map_lookup_elem(&hp3_pieces, &key);
	return seen != NULL && now - *seen <= FRAGMENT_NS;
}

static __always_inline void note_piece(const struct frame *f)
{
	__u32 zero = 0;
	__u64 now = bpf_ktime_get_ns(), *last = bpf_map_lookup_elem(&hp3_last_piece, &zero);
	struct fragment key;
	struct iphdr ip;

	if (f->protocol != bpf_htons(ETH_P_IP) || !read_ip4(f, f->l3, &ip) ||
		!(ip.frag_off & bpf_htons(FRAGMENT)))
		return;
	key = datagram(&ip);
	bpf_map_update_elem(&hp3_pieces, &key, &now, BPF_ANY);
	if (last != NULL)
		*last = now;
}

/* The word after one more frame. */
static __always_inline __u64 next_word(const struct hp3_bypass_port *p, __u64 word, __u64 now)
{
	__u64 state = word & HP3_BYPASS_STATE;

	if (state != HP3_BYPASS_TAKEN && state != HP3_BYPASS_LEAVING)
		return word;
	if (state == HP3_BYPASS_LEAVING && word / HP3_BYPASS_FRAME == p->done + p->lost)
		return word - HP3_BYPASS_LEAVING + HP3_BYPASS_DIRECT;
	if ((__s64)(now - p->heartbeat_at) > (__s64)p->stale_ns)
		return word - state + HP3_BYPASS_STALE;
	return word + HP3_BYPASS_FRAME;
}

/* True: hp3d takes the frame in hand. */
static __always_inline int take(struct hp3_bypass_port *p, __u64 now)
{
	for (int i = 0; i < TRIES; i++) {
		__u64 word = *(volatile __u64 *)&p->word, next = next_word(p, word, now);

		if (next == word || __sync_val_compare_and_swap(&p->word, word, next) == word)
			return next == word + HP3_BYPASS_FRAME;
	}
	return 0;
}

SEC("socket")
int tap(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct hp3_bypass_port *p = bpf_map_lookup_elem(&hp3_port, &zero);
	struct hp3_bypass_cpu *cpu = bpf_map_lookup_elem(&hp3_cpu, &zero);
	struct frame f = frame_of_skb(skb);
	__u64 now = bpf_ktime_get_ns();

	if (p == NULL || cpu == NULL || skb->pkt_type == PACKET_OUTGOING || p->owner != me)
		return 0;
	cpu->seen = 1;
	if (skb->len > frame_max || skb->gso_size != 0 || loses_tag_type(skb) || !is_ours(&f) ||
		was_in_pieces(&f, now) || !take(p, now))
		return 0;
	cpu->taken = skb->len;
	return WHOLE_FRAME;
}

static __always_inline void end_taking(struct hp3_bypass_port *p)
{
	for (int i = 0; i < TRIES; i++) {
		__u64 word = *(volatile __u64 *)&p->word, state = word & HP3_BYPASS_STATE;

		if ((state != HP3_BYPASS_TAKEN && state != HP3_BYPASS_LEAVING) ||
			__sync_val_compare_and_swap(
				&p->word, word, word - state + HP3_BYPASS_STALE) == word)
			return;
	}
}

/*
 * Call it if no tap saw the frame, or if the tap found no socket. Then hp3d is gone, and both ports
 * become STALE.
 */
static __always_inline void hp3d_is_gone(struct hp3_bypass_port *p)
{
	__u64 state = p->word & HP3_BYPASS_STATE;
	struct hp3_bypass_port *peer;
	__u32 zero = 0;
	void *map;

	if (state != HP3_BYPASS_TAKEN && state != HP3_BYPASS_LEAVING)
		return;
	end_taking(p);
	map = bpf_map_lookup_elem(&hp3_peer, &zero);
	peer = map == NULL ? NULL : bpf_map_lookup_elem(map, &zero);
	if (peer != NULL)
		end_taking(peer);
}

SEC("xdp")
int hp3_xdp_tap(struct xdp_md *ctx)
{
	__u32 zero = 0, queue = ctx->rx_queue_index;
	struct hp3_bypass_port *p = bpf_map_lookup_elem(&hp3_port, &zero);
	struct frame f = frame_of_xdp(ctx);

	if (p == NULL || p->owner != me || ctx->data_end - ctx->data > frame_max || !is_ours(&f))
		return XDP_PASS;
	if (bpf_map_lookup_elem(&xsks_map, &queue) == NULL) {
		hp3d_is_gone(p);
		return XDP_PASS;
	}
	if (!take(p, bpf_ktime_get_ns()))
		return XDP_PASS;
	return (int)bpf_redirect_map(&xsks_map, queue, XDP_PASS);
}

SEC("tc")
int detour(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct hp3_bypass_port *p = bpf_map_lookup_elem(&hp3_port, &zero);
	struct hp3_bypass_cpu *cpu = bpf_map_lookup_elem(&hp3_cpu, &zero);
	struct frame f = frame_of_skb(skb);
	__u32 taken, seen;

	if (p == NULL || cpu == NULL || p->peer == 0)
		return TC_ACT_OK;
	taken = cpu->taken;
	seen = cpu->seen;
	cpu->taken = cpu->seen = 0;
	if (taken == skb->len)
		return TC_ACT_STOLEN;
	if (!is_roce(&f)) {
		cpu->others++;
		note_piece(&f);
		return bpf_redirect(p->peer, 0);
	}
	if (!seen && !by_xdp)
		hp3d_is_gone(p);
	if (p->closed) {
		cpu->closed++;
		return TC_ACT_SHOT;
	}
	cpu->roce++;
	if (!from_network)
		cpu->kept += keep_port(skb, &f);
	return bpf_redirect(p->peer, 0);
}

/*
 * Frames that leave this port were received at the peer port, so the state of the peer port
 * decides.
 */
SEC("tc")
int gate(struct __sk_buff *skb)
{
	__u32 zero = 0;
	void *map = bpf_map_lookup_elem(&hp3_peer, &zero);
	struct hp3_bypass_port *p = map == NULL ? NULL : bpf_map_lookup_elem(map, &zero);
	__u64 state;

	if ((skb->mark & HP3_BYPASS_MARKED) != HP3_BYPASS_MARK || p == NULL)
		return TC_ACT_UNSPEC;
	state = *(volatile __u64 *)&p->word & HP3_BYPASS_STATE;
	if ((state == HP3_BYPASS_TAKEN || state == HP3_BYPASS_LEAVING) &&
		skb->mark == HP3_BYPASS_MARK_OF(p->owner)) {
		skb->mark = 0;
		return TC_ACT_UNSPEC;
	}
	__sync_fetch_and_add(&p->late, 1);
	return TC_ACT_STOLEN; /* not SHOT: the socket would retry later */
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
