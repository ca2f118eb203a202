/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The BPF programs of a port parse frames with these functions. The XDP program parses a frame
 * before the kernel makes an skb; the other programs parse the skb. Only bypass.bpf.c includes this
 * file, after it has defined from_network and own_port.
 */

#define ROCE_PORT     4791
#define ICMP_EXPIRED  11
#define ICMP6_EXPIRED 3
#define QUOTE         8 /* bytes of ICMP before the packet that it quotes */
#define FRAGMENT      0x3fff /* mask: the flag "more fragments", and the fragment's offset */
#define TPID_8021AD   0x88a8
#define TAG           4 /* bytes of a VLAN tag that is still in the frame */

struct frame {
	void *ctx; /* struct __sk_buff, or with `xdp` struct xdp_md */
	__u32 xdp, l3;
	__u32 vlan; /* the first two tags, in the format of roce/tags.h */
	__be16 protocol;
};

/* Copies `len` bytes of the frame to `to`. 0: the frame has these bytes. */
static __always_inline int load(const struct frame *f, __u32 at, void *to, __u32 len)
{
	return f->xdp ? (int)bpf_xdp_load_bytes(f->ctx, at, to, len)
		      : (int)bpf_skb_load_bytes(f->ctx, at, to, len);
}

static __always_inline __u32 tag_vlan(__u32 i, __be16 tpid, __u16 tci)
{
	return (__u32)(tci & 0xfff) << 12 * i | (__u32)(tpid == bpf_htons(TPID_8021AD)) << (24 + i);
}

/* Skips tag `i` (0: the outer one) if there is one: moves f.l3 behind the tag, and adds the tag to
 * f.vlan. */
static __always_inline struct frame behind_tag(struct frame f, __u32 i)
{
	__be16 tag[2];

	if ((f.protocol != bpf_htons(ETH_P_8021Q) && f.protocol != bpf_htons(TPID_8021AD)) ||
		load(&f, f.l3, tag, sizeof(tag)) != 0)
		return f;
	f.vlan |= tag_vlan(i, f.protocol, bpf_ntohs(tag[0]));
	f.protocol = tag[1];
	f.l3 += TAG;
	return f;
}

/* The kernel may have removed the outer tag already. */
static __always_inline struct frame frame_of_skb(struct __sk_buff *skb)
{
	struct frame f = {.ctx = skb, .l3 = ETH_HLEN, .protocol = (__be16)skb->protocol};

	if (skb->vlan_present)
		f.vlan = tag_vlan(0, (__be16)skb->vlan_proto, (__u16)skb->vlan_tci);
	else
		f = behind_tag(f, 0);
	return behind_tag(f, 1);
}

/* No BPF helper may write into f: the compiler has to know `xdp` as a constant in each program. */
static __always_inline struct frame frame_of_xdp(struct xdp_md *ctx)
{
	struct frame f = {.ctx = ctx, .xdp = 1, .l3 = ETH_HLEN};
	__be16 protocol = 0;

	load(&f, ETH_HLEN - sizeof(protocol), &protocol, sizeof(protocol));
	f.protocol = protocol;
	return behind_tag(behind_tag(f, 0), 1);
}

static __always_inline int is_udp_to(const struct frame *f, __u32 at, __u16 port)
{
	__be16 dest;

	return load(f, at + offsetof(struct udphdr, dest), &dest, sizeof(dest)) == 0 &&
	       dest == bpf_htons(port);
}

static __always_inline int read_ip4(const struct frame *f, __u32 at, struct iphdr *ip)
{
	return load(f, at, ip, sizeof(*ip)) == 0 && ip->version == 4;
}

static __always_inline int read_ip6(const struct frame *f, __u32 at, struct ipv6hdr *ip)
{
	return load(f, at, ip, sizeof(*ip)) == 0 && ip->version == 6;
}

static __always_inline int is_expired(const struct frame *f, __u32 at, __u8 expired)
{
	__u8 type;

	return from_network && load(f, at, &type, sizeof(type)) == 0 && type == expired;
}

static __always_inline int is_ours_ip4(const struct frame *f)
{
	__u32 at = f->l3;
	struct iphdr ip;

	if (!read_ip4(f, at, &ip) || (ip.frag_off & bpf_htons(FRAGMENT)))
		return 0;
	at += ip.ihl * 4;
	if (ip.protocol == IPPROTO_UDP)
		return is_udp_to(f, at, ROCE_PORT) || (own_port != 0 && is_udp_to(f, at, own_port));
	if (ip.protocol != IPPROTO_ICMP || !is_expired(f, at, ICMP_EXPIRED))
		return 0;
	at += QUOTE;
	return read_ip4(f, at, &ip) && ip.protocol == IPPROTO_UDP &&
	       is_udp_to(f, at + ip.ihl * 4, ROCE_PORT);
}

static __always_inline int is_ours_ip6(const struct frame *f)
{
	__u32 at = f->l3;
	struct ipv6hdr ip;

	if (!read_ip6(f, at, &ip))
		return 0;
	at += sizeof(ip);
	if (ip.nexthdr == IPPROTO_UDP)
		return is_udp_to(f, at, ROCE_PORT) || (own_port != 0 && is_udp_to(f, at, own_port));
	if (ip.nexthdr != IPPROTO_ICMPV6 || !is_expired(f, at, ICMP6_EXPIRED))
		return 0;
	at += QUOTE;
	return read_ip6(f, at, &ip) && ip.nexthdr == IPPROTO_UDP &&
	       is_udp_to(f, at + sizeof(ip), ROCE_PORT);
}

/* Is the frame for hp3d: RoCEv2, a datagram of a peer's hp3d, or a switch's answer to a trace? */
static __always_inline int is_ours(const struct frame *f)
{
	if (f->protocol == bpf_htons(ETH_P_IP))
		return is_ours_ip4(f);
	return f->protocol == bpf_htons(ETH_P_IPV6) && is_ours_ip6(f);
}

/* Is the frame RoCEv2, over IPv4 or IPv6? */
static __always_inline int is_roce(const struct frame *f)
{
	struct iphdr ip;
	struct ipv6hdr ip6;

	if (f->protocol == bpf_htons(ETH_P_IP) && read_ip4(f, f->l3, &ip))
		return ip.protocol == IPPROTO_UDP && !(ip.frag_off & bpf_htons(FRAGMENT)) &&
		       is_udp_to(f, f->l3 + ip.ihl * 4, ROCE_PORT);
	return f->protocol == bpf_htons(ETH_P_IPV6) && read_ip6(f, f->l3, &ip6) &&
	       ip6.nexthdr == IPPROTO_UDP && is_udp_to(f, f->l3 + sizeof(ip6), ROCE_PORT);
}
