/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A port of an RNIC, with hp3d's UD queue pairs, their buffers, and the port's addresses. The UDP
 * source port of a datagram is chosen in one of two ways:
 *
 *     LABEL   by the flow label of the address handle: any of 16,384 ports (mlx5)
 *     HASHED  by the queue pair, because the RNIC hashes its QPN: one port each (Soft-RoCE)
 *
 * hp3d uses an RNIC only if hp3d knows how the RNIC chooses ports. Address handles are cached per
 * route. Creating a handle may start a neighbour resolution in the kernel, so hp3d creates handles
 * only for hosts that have answered.
 *
 * If the RNIC timestamps completions, the timestamps give the time of probes on the wire
 * (stamps.h).
 */
#include <string.h>
#include "app/hp3d/ud/envelope.h"
#include "app/hp3d/ud/queue.h"
#include "app/hp3d/ud/stamps.h"
#include "probes/hello.h"

#define HP3D_UD_QPS      HP3_HELLO_QPNS
#define HP3D_UD_GIDS     64u
#define HP3D_UD_HANDLES  512u
#define HP3D_UD_RECEIVES 64u /* per queue pair */
#define HP3D_UD_SENDS    256u
#define HP3D_UD_SLOT     (HP3D_UD_GRH + HP3D_UD_PAYLOAD)

enum hp3d_ud_how { HP3D_UD_LABEL, HP3D_UD_HASHED };

struct hp3d_ud_handle {
	struct ibv_ah *ah; /* NULL: free */
	uint64_t used;
	uint8_t dst[16];
	uint16_t sport; /* UDP source port with LABEL; else 0 */
	uint8_t gid, tclass, ttl;
};

struct hp3d_ud_rnic {
	const struct hp3d_ibverbs *verbs;
	char name[64];
	uint8_t port;
	enum hp3d_ud_how how;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct hp3d_ud_queue arrived, left;
	uint32_t n; /* queue pairs */
	struct ibv_qp *qp[HP3D_UD_QPS];
	uint16_t sport[HP3D_UD_QPS]; /* HASHED: port of each queue pair */
	uint32_t n_gids;
	struct {
		uint8_t gid[16];
		uint8_t index;
	} gids[HP3D_UD_GIDS];
	uint64_t looked; /* when the addresses were last read */
	uint8_t *memory; /* receives of all queue pairs, then sends */
	uint32_t taken; /* slot of the latest datagram taken, plus 1; 0: none */
	uint64_t taken_ticks; /* timestamp of that datagram */
	struct hp3d_ud_stamps stamps;
	uint16_t free_send[HP3D_UD_SENDS];
	uint32_t probe[HP3D_UD_SENDS]; /* by send slot: id of the probe in it */
	bool is_probe[HP3D_UD_SENDS];
	uint32_t n_free;
	uint64_t stamp;
	uint64_t failed; /* sends that completed with an error */
	/* seed of the hash of address handles, because peers choose ports and DSCP */
	uint64_t seed;
	struct hp3d_ud_handle handle[HP3D_UD_HANDLES];
};

/* *r must be zeroed. Returns 0, or -1 with the reason in `why`; call hp3d_ud_rnic_close() in both
 * cases. */
int hp3d_ud_rnic_open(struct hp3d_ud_rnic *r, const struct hp3d_ibverbs *v,
	struct ibv_device *device, uint8_t port, uint32_t qkey, char *why, size_t cap);
void hp3d_ud_rnic_close(struct hp3d_ud_rnic *r);

/* The index of the GID of this address (IPv4: four bytes), or -1. If the address is unknown,
 * rereads the GIDs, once a second at most. */
int hp3d_ud_rnic_gid(struct hp3d_ud_rnic *r, bool ipv6, const uint8_t *ip, uint64_t now);

/* Returns 0; -EADDRNOTAVAIL: no queue pair has that port; -ENETUNREACH: no address handle; other
 * errnos: too many outstanding sends, or the RNIC refused the send. */
int hp3d_ud_rnic_send(struct hp3d_ud_rnic *r, int gid, const struct hp3d_ud_route *route,
	const struct hp3_hello *peer, const void *buf, uint32_t n);

/* The next received datagram: its GRH and payload, valid until the next call; false: none. */
bool hp3d_ud_rnic_take(struct hp3d_ud_rnic *r, const uint8_t **grh, uint32_t *n);
/* How the answer to probe `id` is timed. The answer must be the latest datagram taken. *took_ns is
 * 0 if hp3d's clock times the answer. */
enum hp3d_ud_timing hp3d_ud_rnic_took(struct hp3d_ud_rnic *r, uint32_t id, uint32_t *took_ns);
/* The channel is readable: acknowledges its events and requests the next notification. */
void hp3d_ud_rnic_heard(struct hp3d_ud_rnic *r);

/* Shared by rnic.c (open, close, addresses) and traffic.c (sends and receives). */

/* Posts a slot of the memory as a receive of the slot's queue pair. */
int hp3d_ud_rnic_receive(struct hp3d_ud_rnic *r, uint32_t slot);
/* Writes an address as a GID; IPv4: as an IPv4-mapped IPv6 address. */
static inline void hp3d_ud_as_gid(uint8_t gid[16], bool ipv6, const uint8_t *ip)
{
	memset(gid, 0, 16);
	memset(gid + 10, 0xff, 2);
	memcpy(ipv6 ? gid : gid + 12, ip, ipv6 ? 16 : 4);
}
