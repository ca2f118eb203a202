/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Frames of flows that hp3d had moved keep their ports when they go direct (rule 19). Only
 * bypass.bpf.c includes this file. The arithmetic is that of roce/icrc.c: the effect of a port
 * change on the ICRC depends only on the number of bytes after the port. So the program reads no
 * other part of the frame.
 */

#define RC_OPCODES   0x20 /* opcodes below this are RC */
#define READ_FIRST   0x0d /* from READ_FIRST to ATOMIC_ACK: replies */
#define ATOMIC_ACK   0x12
#define BTH          8 /* bytes of the BTH that are read */
#define BTH_QPN      4 /* offset of the destination QPN's word */
#define CRC_POLY     0xedb88320u
#define UDP_CHECKSUM 6
#define ICRC_BYTES   4

/* Weight of the source port in the ICRC, by the bytes from the UDP header to the ICRC; written
 * before the programs are loaded. */
const volatile __u32 port_weight[HP3_BYPASS_WEIGHTS] = {0};

/* Offsets in the frame; all 0: the frame is not RoCEv2. */
struct roce {
	__u32 l3, udp, icrc;
	__u32 ipv6;
};

/* a * b mod P, for an `a` of 16 bits in the upper half of the register. */
static __always_inline __u32 crc_mul16(__u16 a, __u32 b)
{
	__u32 product = 0;

	for (int i = 15; i >= 0; i--) {
		if (a >> i & 1)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? CRC_POLY : 0);
	}
	return product;
}

static __always_inline void replace(
	struct __sk_buff *skb, const struct roce *r, __u16 from, __u16 to, __u32 old, __u32 icrc)
{
	const __u32 csum = r->udp + UDP_CHECKSUM;
	__be16 sum = 0;

	bpf_skb_load_bytes(skb, csum, &sum, sizeof(sum));
	bpf_skb_store_bytes(skb, r->udp, &to, sizeof(to), 0);
	bpf_skb_store_bytes(skb, r->icrc, &icrc, sizeof(icrc), 0);
	if (sum == 0)
		return;
	bpf_l4_csum_replace(skb, csum, from, to, BPF_F_MARK_MANGLED_0 | sizeof(to));
	bpf_l4_csum_replace(skb, csum, old, icrc, BPF_F_MARK_MANGLED_0 | sizeof(icrc));
}

/*
 * Sets the IPv6 flow label from which Linux and mlx5 derive the port, as hp3_sport_to_flow_label()
 * computes it.
 */
static __always_inline void set_flow_label(struct __sk_buff *skb, __u32 l3, __u16 port)
{
	__be32 word;

	if (bpf_skb_load_bytes(skb, l3, &word, sizeof(word)) != 0)
		return;
	word = bpf_htonl((bpf_ntohl(word) & ~0xfffffu) | 1u << 14 | ((port ^ 1u) & 0x3fff));
	bpf_skb_store_bytes(skb, l3, &word, sizeof(word), 0);
}

/*
 * The weight of a port `after` bytes before the ICRC; 0 (false): the frame is so long that no
 * weight is stored. BPF verifiers up to at least Linux 6.1 must see the check on the register from
 * which the address is computed.
 */
static __always_inline int weight_of(__u32 after, __u32 *weight)
{
	__u64 at = after;

	asm volatile("" : "+r"(at));
	if (at >= HP3_BYPASS_WEIGHTS)
		return 0;
	*weight = *(const volatile __u32 *)((const char *)port_weight + at * sizeof(*weight));
	return 1;
}

/* Changes the frame's port. 1: it was changed; 0: it is unchanged. */
static __always_inline int set_port(struct __sk_buff *skb, const struct roce *r, __u16 port)
{
	__u32 old, icrc, weight;
	__be16 from, to = bpf_htons(port);

	if (port == 0 || !weight_of(r->icrc - r->udp, &weight) ||
		bpf_skb_load_bytes(skb, r->udp, &from, sizeof(from)) != 0 || from == to ||
		bpf_skb_load_bytes(skb, r->icrc, &old, sizeof(old)) != 0)
		return 0;
	icrc = old ^ crc_mul16(from ^ to, weight);
	replace(skb, r, from, to, old, icrc);
	if (r->ipv6)
		set_flow_label(skb, r->l3, port);
	return 1;
}

static __always_inline int find_roce_ip4(
	const struct frame *f, struct roce *r, struct hp3_bypass_flow *flow)
{
	struct iphdr ip;

	if (!read_ip4(f, r->l3, &ip) || ip.protocol != IPPROTO_UDP ||
		(ip.frag_off & bpf_htons(FRAGMENT)))
		return 0;
	r->udp = r->l3 + ip.ihl * 4;
	r->icrc = r->l3 + bpf_ntohs(ip.tot_len) - ICRC_BYTES;
	__builtin_memcpy(flow->local, &ip.saddr, 4);
	__builtin_memcpy(flow->remote, &ip.daddr, 4);
	return 1;
}

static __always_inline int find_roce_ip6(
	const struct frame *f, struct roce *r, struct hp3_bypass_flow *flow)
{
	struct ipv6hdr ip;

	if (!read_ip6(f, r->l3, &ip) || ip.nexthdr != IPPROTO_UDP)
		return 0;
	r->udp = r->l3 + sizeof(ip);
	r->icrc = r->udp + bpf_ntohs(ip.payload_len) - ICRC_BYTES;
	r->ipv6 = 1;
	__builtin_memcpy(flow->local, &ip.saddr, 16);
	__builtin_memcpy(flow->remote, &ip.daddr, 16);
	return 1;
}

/*
 * Sets the port of the flow in a RoCEv2 frame of the RNIC that goes direct. 1: the frame now has
 * another port than the RNIC's.
 */
static __always_inline int keep_port(struct __sk_buff *skb, const struct frame *f)
{
	struct roce r = {.l3 = f->l3};
	struct hp3_bypass_flow flow = {};
	struct hp3_bypass_ports *ports;
	__u8 bth[BTH];

	if (f->protocol == bpf_htons(ETH_P_IP) ? !find_roce_ip4(f, &r, &flow)
					       : !find_roce_ip6(f, &r, &flow))
		return 0;
	if (bpf_skb_load_bytes(skb, r.udp + sizeof(struct udphdr), bth, sizeof(bth)) != 0 ||
		bth[0] >= RC_OPCODES)
		return 0;
	flow.qpn = (__u32)bth[BTH_QPN + 1] << 16 | bth[BTH_QPN + 2] << 8 | bth[BTH_QPN + 3];
	flow.kind = hp3_bypass_kind(f->vlan, r.ipv6);
	ports = bpf_map_lookup_elem(&hp3_moved, &flow);
	if (ports == NULL)
		return 0;
	return set_port(skb, &r,
		bth[0] >= READ_FIRST && bth[0] <= ATOMIC_ACK ? ports->replies : ports->requests);
}
