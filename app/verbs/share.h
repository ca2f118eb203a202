/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The interface between an application's libhp3verbs.so (the shim) and hp3d on the same host. The
 * shim connects to a UNIX socket (SOCK_SEQPACKET), and each side sends one message (hello,
 * welcome). Then both sides share memory with a record per queue pair (a cell). The shim creates
 * the memory and an eventfd (hp3d's bell), and passes their descriptors. To make hp3d read the
 * cells, the shim writes to the eventfd. To make the shim read the cells, hp3d sends a byte on the
 * socket. hp3d does not use an eventfd for this, because an eventfd that the application made could
 * block hp3d. When one of the two sides ends, the socket closes.
 *
 * hp3d writes only `want` of a cell; the shim writes all other fields. hp3d does not trust the
 * shim's fields, because an application may write any value. Integers are in the host's byte order.
 * The memory is sealed: it neither grows nor shrinks.
 */
#include <stdint.h>

#define HP3_VERBS_SOCKET  "/run/hp3/verbs.sock"
#define HP3_VERBS_MAGIC   0x33505668u /* "hVP3" */
#define HP3_VERBS_VERSION 3u
#define HP3_VERBS_CELLS   4096u
#define HP3_VERBS_DEVICE  64u
#define HP3_VERBS_CLASSES 4u /* size classes: up to 4 KiB, 64 KiB, 1 MiB, above */

/* First message, from shim to hp3d, with two descriptors: memory, and hp3d's bell. */
struct hp3_verbs_hello {
	uint32_t magic;
	uint32_t version;
	uint32_t pid;
	uint32_t cells;
	uint32_t cell_size;
	char shim[20]; /* version of the package */
};

/*
 * hp3d's answer. If `version` is not HP3_VERBS_VERSION, or `accepted` is 0, the shim continues
 * without hp3d, and retries later.
 */
struct hp3_verbs_welcome {
	uint32_t magic;
	uint32_t version;
	uint32_t accepted;
	uint32_t drain_us; /* longest wait for outstanding work; the shim also has its own bounds */
	uint32_t hold_us; /* longest time between DRAINED and hp3d's next command */
	uint32_t place_us; /* longest wait for PLACE before a queue pair enters RTS; 0: none */
};

enum hp3_verbs_state {
	HP3_VERBS_FREE,
	HP3_VERBS_RTR,
	HP3_VERBS_RTS,
	HP3_VERBS_ERR, /* in error, or reset, or drained by the application itself */
};

/* How a queue pair is moved. */
enum hp3_verbs_method {
	HP3_VERBS_NONE, /* the RNIC refused all methods */
	HP3_VERBS_SQD, /* RTS -> SQD -> SQD with a new flow label -> RTS */
	HP3_VERBS_SPORT, /* hold work requests, then call <provider>dv_modify_qp_udp_sport */
};

/* Flags of a cell. RESPONDS: the queue pair accepts READs or ATOMICs of the peer (rule 20). */
#define HP3_VERBS_RESPONDS 0x1u
/* The queue pair is not in RTR yet: PLACE takes effect with RTR, before the peer can READ. */
#define HP3_VERBS_WAITS 0x2u

/*
 * hp3d writes `want`, and the shim writes `did`. Each is one word, written in one store. A `want`
 * that differs from the previous one is a command. The shim ignores a command for another
 * generation of the cell.
 */
enum hp3_verbs_op {
	HP3_VERBS_NOTHING,
	HP3_VERBS_SUSPEND, /* answer: DRAINED, or FAILED */
	/* move to `port`, with all steps unless SUSPEND preceded. Answer: MOVED, or FAILED */
	HP3_VERBS_MOVE,
	/* as MOVE, but the path is dead: without a drain, if the method allows it */
	HP3_VERBS_MOVE_NOW,
	HP3_VERBS_RESUME, /* continue on the old port. Answer: RESUMED */
	/*
	 * In RTR: the port takes effect with RTS, before the first data; with HP3_VERBS_WAITS, it
	 * takes effect with RTR. In RTS: the same as MOVE. In all these states, the answers are
	 * those of MOVE. Port 0: keep the port; no answer.
	 */
	HP3_VERBS_PLACE,
	/*
	 * As SUSPEND, also if HP3_VERBS_RESPONDS: the peer's queue pair is held (HOLD there). The
	 * detail is a time in ms. A MOVE later than this time after DRAINED fails (ETIMEDOUT).
	 */
	HP3_VERBS_SUSPEND_HELD,
	/*
	 * For a move of the peer's queue pair: as SUSPEND, but only RESUME may follow. Posts are
	 * held for `detail` ms after DRAINED, or until RESUME, even if hp3d ends.
	 */
	HP3_VERBS_HOLD,
	HP3_VERBS_OP_MAX
};
enum hp3_verbs_did {
	HP3_VERBS_DRAINED = 1,
	HP3_VERBS_MOVED,
	HP3_VERBS_RESUMED,
	HP3_VERBS_FAILED, /* continues on the old port; `detail` is an errno: see guide/verbs.md */
};

/* Bits, from the top: 24 of generation, 16 of sequence, 8 of op or did, 16 of port or detail. */
static inline uint64_t hp3_verbs_pack(
	uint32_t generation, uint16_t seq, uint8_t what, uint16_t detail)
{
	return (uint64_t)(generation & 0xffffff) << 40 | (uint64_t)seq << 24 |
	       (uint64_t)what << 16 | detail;
}

static inline uint32_t hp3_verbs_unpack_generation(uint64_t word)
{
	return (uint32_t)(word >> 40);
}

static inline uint16_t hp3_verbs_unpack_seq(uint64_t word)
{
	return (uint16_t)(word >> 24);
}

static inline uint8_t hp3_verbs_unpack_code(uint64_t word)
{
	return (uint8_t)(word >> 16);
}

static inline uint16_t hp3_verbs_unpack_detail(uint64_t word)
{
	return (uint16_t)word;
}

struct hp3_verbs_cell {
	/*
	 * Identity. While `version` is odd, the shim is writing these fields. Read `version` before
	 * and after these fields.
	 */
	uint32_t version;
	uint32_t generation; /* number of queue pairs that the cell has had, modulo 2^24 */
	uint32_t qpn, dest_qpn;
	uint32_t flow_label; /* the flow label that the application set */
	uint16_t port; /* UDP source port in use; 0: chosen by the RNIC, and not known */
	uint8_t state, method, flags, port_num, traffic_class, unused;
	uint16_t moves;
	uint16_t home; /* port without hp3d; 0: chosen by the RNIC, and not known */
	uint8_t sgid[16], dgid[16];

	/* Activity; written when the application posts and polls. */
	uint64_t posted_wrs __attribute__((aligned(64)));
	uint64_t posted_bytes;
	/* unsignalled work requests count once a later signalled one has completed */
	uint64_t done_wrs;
	uint64_t done_bytes;
	/*
	 * The newest sampled work request: time from post to polled completion; its bytes; bytes
	 * outstanding when it was posted, its own included. latency_count: number of samples of
	 * this queue pair.
	 */
	uint32_t latency_ns;
	uint32_t latency_bytes, latency_queued, latency_count;
	/* shortest, by size class of latency_bytes; 0: none yet */
	uint32_t latency_min_ns[HP3_VERBS_CLASSES];

	uint64_t want __attribute__((aligned(64)));
	uint64_t did;

	char device[HP3_VERBS_DEVICE] __attribute__((aligned(64)));
};
_Static_assert(sizeof(struct hp3_verbs_cell) == 256, "cache lines");
