/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes from the other end of a control channel of libhp3x, in pieces; then a script of
 * what happens to the messages that this end sends. Checks: frames are those that a second reader
 * of the same bytes finds; there is always room for more bytes; the outbox keeps its order of
 * offsets, sends whole frames, and frees only messages that the other end can have. Descriptors of
 * regions: the bytes are refused, or all values are within their ranges.
 */
#include <endian.h>
#include <errno.h>
#include "base/crc.h"
#include "base/minmax.h"
#include "input.h"
#include "xfer/lib/frame.h"

#define HEAD 24u

static struct hp3x_inbound in;
static struct hp3x_outbox out;

/* The second reader: where the frame at `at` ends; 0: it is not complete; -1: it is none. */
static int64_t frame_end(const uint8_t *data, size_t size, size_t at)
{
	uint64_t length;

	if (size - at < HEAD)
		return 0;
	length = data[at] | (uint64_t)data[at + 1] << 8 | (uint64_t)data[at + 2] << 16 |
		 (uint64_t)data[at + 3] << 24;
	if (length > HP3X_MESSAGE)
		return -1;
	return size - at - HEAD < length ? 0 : (int64_t)(at + HEAD + length);
}

static void try_inbound(const uint8_t *data, size_t size, size_t piece)
{
	size_t fed = 0, at = 0;

	in.at = in.n = 0;
	while (fed < size) {
		uint8_t *space;
		size_t room = hp3x_inbound_space(&in, &space);
		size_t n = size - fed < piece ? size - fed : piece;
		int found;

		MUST(room > 0 && space >= in.bytes && space + room <= in.bytes + HP3X_INBOUND);
		n = n < room ? n : room;
		memcpy(space, data + fed, n);
		in.n += (uint32_t)n;
		fed += n;
		do {
			int64_t end = frame_end(data, fed, at);
			const uint8_t *of_frame;
			struct hp3x_frame f;

			found = hp3x_inbound_next(&in, &f, &of_frame);
			MUST(found == (end > 0 ? 1 : end < 0 ? -EPROTO : 0));
			if (found < 0)
				return;
			if (found == 0)
				break;
			MUST(f.length == (uint64_t)end - at - HEAD && f.kind == data[at + 4]);
			MUST(memcmp(of_frame, data + at + HEAD, f.length) == 0);
			at = (size_t)end;
		} while (true);
	}
}

static void check_outbox(void)
{
	MUST(out.base <= out.sent && out.sent <= out.edge && out.sent <= out.head);
	MUST(out.head - out.base <= HP3X_OUTBOX && out.acked <= out.seq);
	MUST(hp3x_outbox_room(&out) <= HP3X_OUTBOX);
}

/* Pairs of bytes: what happens, and how much of it. */
static void try_outbox(const uint8_t *script, size_t size)
{
	static const uint8_t message[HP3X_MESSAGE];
	uint64_t seq = 0;
	struct iovec iov[2];

	out = (struct hp3x_outbox){.ring = out.ring};
	for (size_t i = 0; i + 1 < size; i += 2) {
		uint32_t much = script[i + 1] * 257u;
		uint64_t ack = out.acked + script[i + 1], base = out.base;
		size_t unsent = 0;
		int n, error;

		switch (script[i] % 4) {
		case 0:
			much = much < HP3X_MESSAGE ? much : HP3X_MESSAGE;
			if (hp3x_outbox_room(&out) < hp3_max_u64(much, 1))
				break;
			hp3x_outbox_add(&out, message, much);
			MUST(out.seq == ++seq);
			break;
		case 1:
			n = hp3x_outbox_unsent(&out, iov);
			for (int k = 0; k < n; k++)
				unsent += iov[k].iov_len;
			MUST(unsent == out.head - out.sent);
			hp3x_outbox_sent(&out, unsent < much ? unsent : much);
			break;
		case 2:
			error = hp3x_outbox_acked(&out, ack);
			MUST(ack <= seq || error == -EPROTO);
			if (error != 0 && hp3x_outbox_rewind(&out, out.acked) != 0)
				abort();
			break;
		default:
			error = hp3x_outbox_rewind(&out, ack);
			MUST((error == 0) == (ack <= seq));
			MUST(out.sent == out.base);
		}
		MUST(out.base >= base);
		check_outbox();
	}
}

static void try_descriptor(const uint8_t *data, size_t size)
{
	struct hp3x_remote remote;
	int error = hp3x_remote_read(data, size, &remote);
	uint8_t copy[HP3X_DESCRIPTION];
	uint32_t crc;

	MUST(error == 0 || error == -EBADMSG);
	if (size < 4 || size > sizeof(copy))
		return;
	memcpy(copy, data, size);
	crc = ~hp3_crc_reflected(hp3_crc_table_32, UINT32_MAX, copy, size - 4);
	crc = htole32(crc);
	memcpy(copy + size - 4, &crc, 4);
	error = hp3x_remote_read(copy, size, &remote);
	MUST(error == 0 || error == -EBADMSG);
	if (error != 0)
		return;
	MUST(memcmp(copy, "hp3x-d1", 8) == 0);
	MUST(remote.n_rails >= 1 && remote.n_rails <= HP3X_RAILS);
	MUST(size == 44 + 4 * (size_t)remote.n_rails);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half;

	if (in.bytes == NULL)
		MUST(hp3x_inbound_open(&in) == 0 && hp3x_outbox_open(&out) == 0);
	try_descriptor(data, size);
	if (size < 2)
		return 0;
	try_inbound(data + 2, size - 2, data[0] == 0 ? SIZE_MAX : data[0]);
	half = data[1] < size - 2 ? data[1] : size - 2;
	try_outbox(data + 2, half);
	return 0;
}
