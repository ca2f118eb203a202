/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The peer probe: a packet that one hp3d sends to measure a path, and that the peer's hp3d answers
 * (answer.h). The probe has the addresses, QPN, DSCP and ECT of the flow. So switches hash, queue
 * and mark the probe like data. The probe's source port selects the path.
 *
 *     UC RDMA WRITE ONLY, AckReq clear, PSN: an old one of the flow
 *     RETH VA      magic 8 | version 4 | kind 4 | wall clock in seconds, low 16 bits | probe id 32
 *     RETH R_Key   tag 32 (tag.h) over addresses, ports, QPN, PSN, id, the whole time and the
 *                  length; without a key: a cookie, which the answer's tag covers
 *     payload      none, or zeros, as many as the DMA length. A probe that is as long as data finds
 *                  paths that drop only long packets (engine/search/size.c)
 *     IP length    60 bytes (IPv4) or 80 bytes (IPv6), and the length of the payload
 *
 * Invariant (rule 1): if the peer's hp3d is gone, a probe reaches the RNIC, and the RNIC drops the
 * probe silently. The RNIC acknowledges nothing, and counts no duplicate. The reason is that the
 * probe has transport service UC, and the queue pair has RC. Header validation drops such packets
 * (IBTA 9.6; Soft-RoCE: check_type_state() in rxe_recv.c).
 *
 * A probe has a PSN of the flow, because switches may hash PSNs. The peer's hp3d uses the PSN only
 * to check the tag. The PSN is an old one because of Soft-RoCE without the commit 7d9ae80e31df (in
 * Linux 5.12 and the stable kernels of March 2021). In such a Soft-RoCE, the check of the transport
 * service never fails, and a packet with an old PSN counts as a duplicate.
 *
 * A report is a packet like a probe, with another kind. The report's sender reports that no replies
 * to one of its queue pairs arrive. The peer's hp3d then sends these replies from another port.
 * Reports are not answered, and hp3d drops reports of hosts without a key. The id of a report
 * identifies the queue pair: QPN << 8 | number. The payload has 12 bytes: the whole time of the
 * report (wall clock, us, 64 bits), and the upper half of the tag.
 *
 * The magic makes the VA non-canonical: bits 63 to 56 are not all equal. In address spaces of 48,
 * 52 or 57 bits, they are all equal. Magic and tag distinguish probes from short writes of
 * applications over unreliable connections.
 *
 * hp3d recognises probes and reports of other versions only to count and drop them. In versions
 * before 4, the version field has the value 3. Versions before 5 have no payload.
 */
#include "probes/tag.h"
#include "roce/opcode.h"

#define HP3_PEER_MAGIC         0x48u /* 0100 1000 */
#define HP3_PEER_KIND_PROBE    3u
#define HP3_PEER_KIND_REPORT   4u
#define HP3_PEER_HEAD(kind)    (HP3_PEER_MAGIC << 8 | HP3_PROBES_VERSION << 4 | (kind))
#define HP3_PEER_IP_LEN4       60u
#define HP3_PEER_IP_LEN6       80u
#define HP3_PEER_REPORT_LENGTH 12u /* bytes of a report's payload */
#define HP3_PEER_PAD_MAX       4096u /* most bytes of a probe's payload: the largest path MTU */

/* One moment, as two clocks of this host show it. The wall clocks of two hosts may differ. */
struct hp3_times {
	uint64_t clock; /* wall clock, s */
	uint64_t now; /* monotonic, ns */
};

struct hp3_peer_probe {
	uint32_t dest_qpn, psn;
	uint32_t id;
	uint64_t time; /* the sender's wall clock: s in a probe, us in a report */
	uint16_t pad; /* bytes of a probe's payload */
	bool report; /* true: a report; false: a probe. The tag covers the kind */
	uint32_t cookie; /* only without a key: hp3_probe_cookie() */
	uint8_t key; /* after a read: index of the key that made the tag */
	uint64_t hash; /* after a read: the whole 64-bit hash, which identifies this probe */
};

/* The local QPN, at the report's sender, of the queue pair that a report is about. */
static inline uint32_t hp3_report_qpn(uint32_t id)
{
	return id >> 8;
}

static inline uint32_t hp3_report_id(uint32_t qpn, uint8_t number)
{
	return qpn << 8 | number;
}

/*
 * Builds a probe or a report. Returns the length of the frame, -ENOSPC or -EINVAL, as hp3_build().
 * a->sport is the source port whose path is probed.
 */
int hp3_peer_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_peer_probe *p, const struct hp3_probe_key *key);

/* The VA of a frame whose opcode has a RETH. */
static inline uint64_t hp3_peer_va(const void *frame, const struct hp3_view *v)
{
	return hp3_be64((const uint8_t *)frame + v->udp_off + 20);
}

/* The R_Key field: the tag; for a pair without a key, the cookie. */
static inline uint32_t hp3_peer_cookie(const void *frame, const struct hp3_view *v)
{
	return hp3_be32((const uint8_t *)frame + v->udp_off + 28);
}

static inline uint32_t hp3_peer_version(const void *frame, const struct hp3_view *v)
{
	return hp3_peer_va(frame, v) >> 52 & 15;
}

/* Do opcode and lengths allow a peer probe or a report, of any version? */
static inline bool hp3_peer_looks(const struct hp3_view *v)
{
	return v->class == HP3_CLASS_UC && v->opcode == HP3_OP_UC_WRITE_ONLY &&
	       v->dma_len <= HP3_PEER_PAD_MAX && v->payload_len == v->dma_len;
}

/*
 * Does the frame look like a peer probe or a report? This is no authentication. *v: the frame's
 * view from hp3_parse().
 */
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
 * Reads a frame for which hp3_peer_is() is true, and checks ICRC and tag (rule 6).
 *
 * `clock`: this host's wall clock in seconds. A probe contains the low 16 bits of its time. p->time
 * becomes the whole time nearest to `clock` with these 16 bits, and the tag covers this whole time.
 * So an old tag does not become right again when the 16 bits wrap (every 18 hours). For hosts
 * without a key, p->time is the 16 bits, and there is no tag.
 *
 * Returns 0; -EBADMSG: wrong ICRC, -EPROTONOSUPPORT: another version (in both cases *p is not
 * valid); -EACCES: wrong tag.
 */
int hp3_peer_read(const struct hp3_parsed *f, const struct hp3_probe_keys *keys, uint64_t clock,
	struct hp3_peer_probe *p);
