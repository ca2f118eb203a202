/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "xfer/lib/frame.h"

#define HEAD sizeof(struct hp3x_frame)

int hp3x_outbox_open(struct hp3x_outbox *o)
{
	*o = (struct hp3x_outbox){.ring = malloc(HP3X_OUTBOX)};
	return o->ring == NULL ? -ENOMEM : 0;
}

void hp3x_outbox_close(struct hp3x_outbox *o)
{
	free(o->ring);
	o->ring = NULL;
}

size_t hp3x_outbox_room(const struct hp3x_outbox *o)
{
	size_t left = HP3X_OUTBOX - (size_t)(o->head - o->base);

	return left < HEAD ? 0 : left - HEAD;
}

static void ring_write(struct hp3x_outbox *o, const void *data, size_t n)
{
	size_t at = o->head % HP3X_OUTBOX, first = HP3X_OUTBOX - at;

	if (n == 0)
		return;
	if (first > n)
		first = n;
	memcpy(o->ring + at, data, first);
	memcpy(o->ring, (const uint8_t *)data + first, n - first);
	o->head += n;
}

static struct hp3x_frame ring_frame(const struct hp3x_outbox *o, uint64_t offset)
{
	struct hp3x_frame f;

	for (size_t i = 0; i < HEAD; i++)
		((uint8_t *)&f)[i] = o->ring[(offset + i) % HP3X_OUTBOX];
	return f;
}

static uint64_t frame_length(const struct hp3x_outbox *o, uint64_t offset)
{
	return HEAD + le32toh(ring_frame(o, offset).length);
}

void hp3x_outbox_add(struct hp3x_outbox *o, const void *data, uint32_t length)
{
	struct hp3x_frame f = {
		.length = htole32(length), .kind = HP3X_FRAME_MESSAGE, .seq = htole64(++o->seq)};

	ring_write(o, &f, HEAD);
	ring_write(o, data, length);
}

int hp3x_outbox_unsent(const struct hp3x_outbox *o, struct iovec iov[2])
{
	size_t at = o->sent % HP3X_OUTBOX, n = (size_t)(o->head - o->sent);
	size_t first = HP3X_OUTBOX - at;

	if (n == 0)
		return 0;
	iov[0] = (struct iovec){o->ring + at, n < first ? n : first};
	if (n <= first)
		return 1;
	iov[1] = (struct iovec){o->ring, n - first};
	return 2;
}

void hp3x_outbox_sent(struct hp3x_outbox *o, size_t n)
{
	o->sent += n;
	while (o->edge < o->sent)
		o->edge += frame_length(o, o->edge);
}

static int messages_free(struct hp3x_outbox *o, uint64_t ack)
{
	if (ack > o->seq)
		return -EPROTO;
	for (; o->acked < ack; o->acked++)
		o->base += frame_length(o, o->base);
	return 0;
}

int hp3x_outbox_acked(struct hp3x_outbox *o, uint64_t ack)
{
	int error = messages_free(o, ack);

	return error == 0 && o->base > o->sent ? -EPROTO : error;
}

int hp3x_outbox_rewind(struct hp3x_outbox *o, uint64_t ack)
{
	int error = messages_free(o, ack);

	o->sent = o->edge = o->base;
	return error;
}

int hp3x_inbound_open(struct hp3x_inbound *in)
{
	*in = (struct hp3x_inbound){.bytes = malloc(HP3X_INBOUND)};
	return in->bytes == NULL ? -ENOMEM : 0;
}

void hp3x_inbound_close(struct hp3x_inbound *in)
{
	free(in->bytes);
	in->bytes = NULL;
}

size_t hp3x_inbound_space(struct hp3x_inbound *in, uint8_t **space)
{
	/* Less than one frame is left over: it fits into half of the bytes. */
	if (in->at > 0) {
		memmove(in->bytes, in->bytes + in->at, in->n - in->at);
		in->n -= in->at;
		in->at = 0;
	}
	*space = in->bytes + in->n;
	return HP3X_INBOUND - in->n;
}

int hp3x_inbound_next(struct hp3x_inbound *in, struct hp3x_frame *f, const uint8_t **data)
{
	if (in->n - in->at < HEAD)
		return 0;
	memcpy(f, in->bytes + in->at, HEAD);
	f->length = le32toh(f->length);
	f->seq = le64toh(f->seq);
	f->ack = le64toh(f->ack);
	if (f->length > HP3X_MESSAGE)
		return -EPROTO;
	if (in->n - in->at < HEAD + f->length)
		return 0;
	*data = in->bytes + in->at + HEAD;
	in->at += HEAD + f->length;
	return 1;
}
