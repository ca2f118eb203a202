/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fail-open for a port that is an interface of the kernel. A frame that comes in meets two
 * programs, one after the other, on one CPU, with nothing in between:
 *
 * - tap, a filter of hp3d's own AF_PACKET socket: does hp3d take the frame?
 * - detour, at tc ingress (clsact): the kernel's copy of what was taken ends here; everything else
 *   is sent out of the peer port.
 *
 * The tap decides, and leaves word for the detour in memory of that CPU, so a frame goes one way
 * and never both. Where hp3d is gone its sockets go with it, one after the other. The first frame
 * that meets no tap ends the taking on both ports: requests that pass are no use while their
 * acknowledgements do not. The heartbeat is for an hp3d that hangs.
 *
 * On the way out, at tc egress, what hp3d sends meets the gate. hp3d looks at the word before it
 * sends, but may be stopped between the look and the kernel's turn: by then newer frames have gone
 * direct. The gate looks again where nothing comes between it and the wire (rule 19).
 *
 * net_af_packet has the kernel put IPv4 fragments together before the tap sees them; the detour
 * still has the fragments. It notes them, and the tap leaves what was put together alone.
 *
 * net_af_xdp takes frames out before either: there the tap is an XDP program, which stays on the
 * interface when hp3d is gone. What it does not take it passes on, to the detour; it looks for
 * hp3d's socket itself, so the detour need not ask whether a tap was met. What its sockets send
 * meets no program of the kernel's: there is no gate.
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

#define FRAGMENTED  1024 /* datagrams in pieces at a time */
#define FRAGMENT_NS 60000000000ull /* twice what the kernel waits for the last piece */
#define TRIES       64
#define WHOLE_FRAME 0x40000

/* Which port this is: set before the programs are loaded. */
const volatile __u64 me = 0; /* the owner that the tap belongs to */
const volatile __u32 frame_max = 0; /* longest frame that the ring holds */
const volatile __u16 own_port = 0; /* UDP port of datagrams between hp3ds; 0: none */
const volatile __u8 from_network = 0; /* switches' answers to traces may come in */
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

/* When the last fragment came by; else the tap need not look for any. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} hp3_last_piece SEC(".maps");

/* hp3d's sockets by queue of the interface; one that is closed is no longer there. */
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

/* net_af_packet hands hp3d what an outer tag says, but not its type. */
static __always_inline int loses_tag_type(const struct __sk_buff *skb)
{
	return skb->vlan_present && skb->vlan_proto == bpf_htons(TPID_8021AD);
}

/* Where flows are that hp3d has moved. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HP3_BYPASS_MOVED);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct hp3_bypass_flow);
	__type(value, struct hp3_bypass_ports);
} hp3_moved SEC(".maps");

#include "app/bpf/ports.h"

/*
 * The kernel put it together for the tap. The note of it stays: the kernel sees each piece again as
 * it leaves, and what is left of that in its queue may complete a later datagram of that number.
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

/* What becomes of the word with one frame more. */
static __always_inline __u64 next_word(const struct hp3_bypass_port *p, __u64 word, __u64 now)
{
	__u64 state = word & HP3_BYPASS_STATE;

	if (state != HP3_BYPASS_TAKEN && state != HP3_BYPASS_LEAVING)
		return word;
	if (state == HP3_BYPASS_LEAVING && word / HP3_BYPASS_FRAME == p->done + p->lost)
		return word - HP3_BYPASS_LEAVING + HP3_BYPASS_DIRECT;
	if ((__s64)(now - p->keepalive_at) > (__s64)p->stale_ns)
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

/* The tap of an hp3d that takes frames did not see this one, or found no socket for it. */
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

/* What comes in at the peer port leaves here: that one's word counts. */
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
	return TC_ACT_STOLEN; /* dropped, the socket would try again later */
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
