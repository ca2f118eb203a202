/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Data that hp3d and the BPF programs of a port (bypass.bpf.c) share. Both sides include this file,
 * after a header with the __u types (linux/types.h). The data outlive hp3d in a pinned map. So if
 * you change a field, raise HP3_BYPASS_LAYOUT.
 *
 * Tap, detour and hp3d write `word`, with atomic operations. The low bits of `word` are the state;
 * the other bits are the number of frames handed to hp3d. So one atomic step can check that hp3d
 * has sent all frames that it took, and can make later frames go direct. This step is right even if
 * other CPUs hand frames to hp3d at the same time (rule 19).
 */

#define HP3_BYPASS_MAGIC  0x62337068u /* "hp3b" */
#define HP3_BYPASS_LAYOUT 1u

enum hp3_bypass_state {
	HP3_BYPASS_DIRECT, /* all frames go to the peer port, without hp3d */
	HP3_BYPASS_TAKEN, /* hp3d gets RoCEv2 frames and messages for hp3d */
	HP3_BYPASS_LEAVING, /* as TAKEN until hp3d has sent all frames that it took; then DIRECT */
	HP3_BYPASS_STALE, /* as DIRECT: hp3d died or hangs; frames in its ring are discarded */
};

#define HP3_BYPASS_QUEUES 64u /* most queues of an interface; net_af_xdp uses queue 0 */

#define HP3_BYPASS_STATE 7u /* bits of the word */
#define HP3_BYPASS_FRAME 8u /* one frame in the word */

/* A port, in a map of its own; ifindex 0: not in use. */
struct hp3_bypass_port {
	/* written when an hp3d begins or ends, and by operators */
	__u32 magic, layout;
	__u32 ifindex, peer; /* interface that receives frames; interface to which they go */
	__u64 owner; /* the hp3d process whose tap may take frames; 0: none */
	__u32 pid; /* process id of the owner */
	__u32 closed; /* 1: RoCEv2 that hp3d does not take is dropped */
	__u64 stale_ns; /* age of `heartbeat_at` at which hp3d counts as gone */
	__u64 pad0[3];
	/* written by the tap, the detour and the owner */
	__u64 word;
	__u64 pad1[7];
	/* written by the owner */
	__u64 heartbeat_at; /* CLOCK_MONOTONIC */
	__u64 done; /* taken frames that hp3d has sent, or dropped and counted */
	__u64 lost; /* taken frames that were dropped, because the ring was full */
	__u64 pad2[4];
	/* written by the gate */
	__u64 late; /* dropped frames, which an hp3d had sent too late */
};

/* Per CPU; the __u64 fields are counters. */
struct hp3_bypass_cpu {
	__u32 taken; /* length of the frame in hand if the tap took it; else 0 */
	__u32 seen; /* 1: the tap saw the frame in hand */
	__u64 roce; /* RoCEv2 that went direct */
	__u64 kept; /* frames of `roce` with the port to which their flow had been moved */
	__u64 others; /* all other frames that went direct */
	__u64 closed; /* RoCEv2 dropped because the port's `closed` was set */
};

/* Frames of flows that were moved keep their ports when they go direct (ports.h). */
#define HP3_BYPASS_MOVED 65536u /* flows; further flows use the RNIC's port when they go direct */
/* Most bytes from the UDP header to the ICRC; longer frames use the RNIC's port. */
#define HP3_BYPASS_WEIGHTS 9216u

/* The mark (SO_MARK) of frames that an owner's sockets send. */
#define HP3_BYPASS_MARK   0x68330000u /* "h3" */
#define HP3_BYPASS_MARKED 0xffff0000u
#define HP3_BYPASS_MARK_OF(owner)                                                                  \
	(HP3_BYPASS_MARK | (__u32)(((owner) ^ (owner) >> 16 ^ (owner) >> 32) & 0xffff))

struct hp3_bypass_flow {
	__u8 local[16], remote[16]; /* IPv4: first four bytes; the rest 0 */
	__u32 qpn; /* destination QPN of the RNIC's packets */
	__u32 kind; /* hp3_bypass_kind() */
};

/*
 * Family and VLAN (roce/tags.h) of a flow. Bits 0 to 11: id of the outer tag. Bit 12: the outer tag
 * is an 802.1ad tag; bit 13: the inner tag is an 802.1ad tag. Bit 16: IPv6. Bits 20 to 31: id of
 * the inner tag.
 */
static inline __u32 hp3_bypass_kind(__u32 vlan, __u32 ipv6)
{
	return (vlan & 0xfff) | (vlan >> 24 & 3) << 12 | ipv6 << 16 | (vlan >> 12 & 0xfff) << 20;
}

static inline __u32 hp3_bypass_vlan(__u32 kind)
{
	return (kind & 0xfff) | (kind >> 12 & 3) << 24 | kind >> 20 << 12;
}

static inline __u32 hp3_bypass_ipv6(__u32 kind)
{
	return kind >> 16 & 1;
}

struct hp3_bypass_ports {
	__u16 requests, replies; /* 0: the port that the RNIC wrote */
};
