/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Frames of the control channel. Sans-IO: bytes that arrive become frames, and messages become
 * bytes that stay until the peer has acknowledged them.
 *
 * A frame has a head of 24 bytes, and data. Messages are numbered 1, 2, ... in each direction of a
 * session. A session outlives its TCP connections: each connection begins with a HELLO that states
 * the last message received. The other end sends all later messages again, and the receiver drops
 * those that it has. So no message is lost, and none arrives twice.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "xfer/core/core.h"

#define HP3X_OUTBOX  (8u * HP3X_MESSAGE) /* bytes */
#define HP3X_INBOUND (2u * HP3X_MESSAGE)

enum hp3x_frame_kind {
	HP3X_FRAME_HELLO = 1,
	HP3X_FRAME_MESSAGE,
	HP3X_FRAME_ACK, /* also the keep-alive */
	HP3X_FRAME_BYE, /* the sender ends the session */
	HP3X_FRAME_REFUSE, /* the sender refuses the hello: data are a sentence */
};

/* Little-endian. */
struct hp3x_frame {
	uint32_t length; /* of the data */
	uint8_t kind, reserved[3];
	uint64_t seq; /* MESSAGE: its number */
	uint64_t ack; /* last message received from the peer */
};

/* Data of HELLO. Little-endian. */
struct hp3x_hello {
	char magic[8];
	char provider[8];
	uint64_t identity;
	uint8_t session[16]; /* random, by the dialler; the same for each connection */
	uint64_t received; /* last message received */
	uint32_t rails, paths_per_rail;
	uint32_t again; /* 1: hellos of this session were exchanged before */
	uint32_t n_addresses;
	/* Where the sender listens, too, in network order. IPv4 addresses are mapped:
	 * ::ffff:a.b.c.d. */
	uint16_t port;
	uint8_t reserved[6];
	uint8_t address[HP3X_RAILS][16];
};

#define HP3X_HELLO_MAGIC "hp3x-c2"

/*
 * Messages that the peer has not acknowledged. Offsets count all bytes since the session began:
 * base <= sent <= edge, sent <= head.
 */
struct hp3x_outbox {
	uint8_t *ring; /* HP3X_OUTBOX bytes */
	uint64_t base, sent, head;
	uint64_t edge; /* end of the frame that is being sent; equals `sent` between two frames */
	uint64_t seq, acked; /* last message added; acknowledged */
};

/* 0 or -ENOMEM. */
int hp3x_outbox_open(struct hp3x_outbox *out);
void hp3x_outbox_close(struct hp3x_outbox *out);
/* Bytes of data that a new message may have. 0: no message fits, not even an empty one. */
size_t hp3x_outbox_room(const struct hp3x_outbox *out);
/* There must be room. */
void hp3x_outbox_add(struct hp3x_outbox *out, const void *data, uint32_t length);
/* Bytes that were not sent. Returns the number of vectors, 0 to 2. */
int hp3x_outbox_unsent(const struct hp3x_outbox *out, struct iovec iov[2]);
void hp3x_outbox_sent(struct hp3x_outbox *out, size_t n);
/* The peer has these messages. -EPROTO: it cannot have them. */
int hp3x_outbox_acked(struct hp3x_outbox *out, uint64_t ack);
/* A new connection: all messages behind `ack` are sent again. -EPROTO: as above. */
int hp3x_outbox_rewind(struct hp3x_outbox *out, uint64_t ack);

/* What has arrived on the connection. */
struct hp3x_inbound {
	uint8_t *bytes; /* HP3X_INBOUND of them */
	uint32_t at, n; /* bytes from `at` to `n` are not handled */
	uint64_t seq; /* last message received, of the session */
};

/* 0 or -ENOMEM. */
int hp3x_inbound_open(struct hp3x_inbound *in);
void hp3x_inbound_close(struct hp3x_inbound *in);
/* Where the next bytes go. Never 0 bytes. */
size_t hp3x_inbound_space(struct hp3x_inbound *in, uint8_t **space);
/*
 * The next frame, in the byte order of this host, and its data, which are valid until the next
 * call of hp3x_inbound_space(). Returns 1, 0 (none is complete) or -EPROTO (these bytes are none).
 */
int hp3x_inbound_next(struct hp3x_inbound *in, struct hp3x_frame *frame, const uint8_t **data);
