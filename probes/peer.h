/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_PEER_H
#define HP3_PROBES_PEER_H
/*
 * The peer probe: what one hp3d sends to learn whether a path is good, and the other one answers
 * (answer.h). It has the flow's own addresses, QPN, DSCP and ECT, so that switches hash, queue and
 * mark it like the data; its source port names the path.
 *
 *     UC RDMA WRITE ONLY, AckReq clear, PSN: of the flow, an old one
 *     RETH VA      magic 8 | version 4 | kind 4 | wall clock in seconds, low 16 bits | probe id 32
 *     RETH R_Key   tag 32 (tag.h) over addresses, ports, QPN, PSN, id, the whole time and the
 *                  length; without a key a cookie, which the answer is to know
 *     payload      none; or zeros, the DMA length of them, so that it is as long as data: on some
 *                  paths that is what does not come through (engine/seek/size.c)
 *     60 bytes from the IP header on with IPv4, 80 with IPv6, and the payload
 *
 * Invariant (rule 1): should it reach an RNIC because its hp3d is gone, it is dropped silently:
 * nothing is acknowledged, nothing counted as duplicate, no PSN need be known. Its transport
 * service is that of unreliable connections, the queue pair's that of reliable ones, and header
 * validation discards what does not match (IBTA 9.6; Soft-RoCE: check_type_state() in rxe_recv.c).
 * The PSN is there because switches may look at it, and the tag speaks for it; it names nothing.
 * That it is an old one matters to Soft-RoCE alone, and only where the kernel lacks 7d9ae80e31df
 * (in Linux 5.12 and the stable ones of March 2021): there the check never fails, and what has an
 * old PSN is a duplicate.
 *
 * The same packet of another kind is a report: "no reply to my queue pair comes through". It is for
 * the hp3d at the other end, which then sends these replies on another port; nobody answers it, and
 * without a key nobody believes it. Its id names the queue pair: QPN << 8 | number. It writes 12
 * bytes: wall clock in us 64, which is its whole time, and the upper half of its tag.
 *
 * The magic makes the VA non-canonical: bits 63 to 56 differ among themselves, which no virtual
 * address of a 48, 52 or 57 bit space does. A short write of an application over an unreliable
 * connection is told apart by it and by the tag. Packets of other versions, which may be as long as
 * these, are recognised, and no more; those before 4 had none, but 3 where it is now, and before 5
 * probes had no payload.
 */
#include "probes/tag.h"
#include "roce/opcode.h"

#define HP3_PEER_MAGIC         0x48u /* 0100 1000 */
#define HP3_PEER_KIND_PROBE    3u
#define HP3_PEER_KIND_REPORT   4u
#define HP3_PEER_HEAD(kind)    (HP3_PEER_MAGIC << 8 | HP3_PROBES_VERSION << 4 | (kind))
#define HP3_PEER_IP_LEN4       60u
#define HP3_PEER_IP_LEN6       80u
#define HP3_PEER_REPORT_LENGTH 12u /* that a report writes */
#define HP3_PEER_PAD_MAX       4096u /* that a probe writes, in fours: the largest MTU of RDMA */

struct hp3_peer_probe {
	uint32_t dest_qpn, psn;
	uint32_t id;
	uint64_t time; /* of the sender's wall clock, s; of a report us */
	uint16_t pad; /* bytes of payload; not of a report */
	bool report; /* see above; part of what the tag speaks for */
	uint32_t cookie; /* without a key */
	uint8_t key; /* read: which one made the tag */
};

/* The queue pair that a report is about: of its sender. */
static inline uint32_t hp3_report_qpn(uint32_t id)
{
	return id >> 8;
}

static inline uint32_t hp3_report_id(uint32_t qpn, uint8_t number)
{
	return qpn << 8 | number;
}

/* As roce/build.h: length, -ENOSPC or -EINVAL. a->sport is the path to be probed. */
int hp3_peer_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_peer_probe *p, const struct hp3_probe_key *key);

/* VA of a frame whose opcode has a RETH. */
static inline uint64_t hp3_peer_va(const void *frame, const struct hp3_view *v)
{
	return hp3_be64((const uint8_t *)frame + v->udp_off + 20);
}

/* What is in the place of the tag. */
static inline uint32_t hp3_peer_cookie(const void *frame, const struct hp3_view *v)
{
	return hp3_be32((const uint8_t *)frame + v->udp_off + 28);
}

static inline uint32_t hp3_peer_version(const void *frame, const struct hp3_view *v)
{
	return hp3_peer_va(frame, v) >> 52 & 15;
}

/* May it be a peer probe, or a report, of this host's version or another one? */
static inline bool hp3_peer_looks(const struct hp3_view *v)
{
	return v->class == HP3_CLASS_UC && v->opcode == HP3_OP_UC_WRITE_ONLY &&
	       v->dma_len <= HP3_PEER_PAD_MAX && v->payload_len == v->dma_len;
}

/* Does it look like one? Cheap, and means nothing yet; *v: hp3_parse() of the frame. */
static inline bool hp3_peer_is(const void *frame, const struct hp3_view *v)
{
	uint64_t va;
	uint32_t kind;

	if (!hp3_peer_looks(v) || (v->flags & HP3_VF_ACKREQ))
		return false;
	va = hp3_peer_va(frame, v);
	kind = va >> 48 & 15;
	if (va >> 56 != HP3_PEER_MAGIC)
		return false;
	if (hp3_peer_version(frame, v) != HP3_PROBES_VERSION)
		return kind == HP3_PEER_KIND_PROBE || kind == HP3_PEER_KIND_REPORT;
	return (kind == HP3_PEER_KIND_PROBE && v->dma_len % 4 == 0) ||
	       (kind == HP3_PEER_KIND_REPORT && v->dma_len == HP3_PEER_REPORT_LENGTH);
}

/*
 * Reads what hp3_peer_is() found, and checks ICRC and tag (rule 6). `clock`: this host's wall
 * clock in seconds; the probe's whole time is the one nearest to it, so that a tag does not come
 * true again every 18 hours. Without a key of these two hosts the time is the 16 bits themselves,
 * and there is no tag.
 * *hash (NULL: not wanted): the whole hash, which names this probe among all others.
 * Returns 0; -EBADMSG: wrong ICRC, -EPROTONOSUPPORT: of another version, *p is not valid in either
 * case; -EACCES: wrong tag.
 */
int hp3_peer_read(const void *frame, const struct hp3_view *v, const struct hp3_probe_keys *keys,
	uint64_t clock, struct hp3_peer_probe *p, uint64_t *hash);

#endif
