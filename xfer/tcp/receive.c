/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of an endpoint arrive. Data go straight into registered memory: each readv(2) takes the
 * rest of the data of one frame, and the head of the next frame behind it.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "xfer/tcp/tcp.h"

#define NOWHERE 65536u

static uint8_t nowhere[NOWHERE]; /* what is refused is read into this, and never looked at */

/* The oldest request without an answer, if this frame is its answer. */
static struct hp3x_post *answered_post(struct hp3x_endpoint *e)
{
	struct hp3x_post *p = &e->post[e->posts_done % HP3X_POSTS];

	if (e->posts_done == e->posts_staged || p->token != le64toh(e->in.token) ||
		(p->kind == HP3X_ACT_READ) != (e->in.kind == FRAME_DATA))
		return NULL;
	return p;
}

/* A frame is complete: its head and all its data. */
static void frame_end(struct hp3x_endpoint *e, struct report *r)
{
	struct answer a = {.token = le64toh(e->in.token)};
	struct hp3x_event *event;

	switch (e->in.kind) {
	case FRAME_WRITE:
	case FRAME_PROBE:
		a.kind = FRAME_ANSWER;
		a.refused = e->in.kind == FRAME_WRITE &&
			    (e->sealed || (e->in.length != 0 && e->into == NULL));
		e->sealed |= a.refused;
		if (e->in.has_imm && !a.refused) {
			event = hp3x_tcp_event_add(r, e, HP3X_EVENT_ARRIVED);
			event->imm = le32toh(e->in.imm);
		}
		hp3x_tcp_answer_add(e, &a);
		break;
	case FRAME_READ:
		a.kind = FRAME_DATA;
		a.length = le32toh(e->in.length);
		a.memory = hp3x_tcp_memory_find(
			e->rails, le32toh(e->in.key), le64toh(e->in.address), a.length);
		a.refused = a.memory == NULL;
		a.data = a.refused ? NULL : (const uint8_t *)(uintptr_t)le64toh(e->in.address);
		hp3x_tcp_answer_add(e, &a);
		break;
	default:
		event = hp3x_tcp_event_add(r, e, HP3X_EVENT_COMPLETED);
		event->token = a.token;
		event->result = e->in.refused ? HP3X_RESULT_REFUSED : HP3X_RESULT_OK;
		e->posts_done++;
	}
	e->have = 0;
	e->memory = NULL;
	e->into = NULL;
}

/* The head of a frame is complete. False: it makes no sense. */
static bool frame_begin(struct hp3x_endpoint *e)
{
	uint32_t length = le32toh(e->in.length);
	struct hp3x_post *p;

	e->left = 0;
	switch (e->in.kind) {
	case FRAME_WRITE:
		e->left = length;
		if (length == 0)
			return true;
		e->memory = e->sealed ? NULL
				      : hp3x_tcp_memory_find(e->rails, le32toh(e->in.key),
						le64toh(e->in.address), length);
		if (e->memory != NULL)
			e->into = (uint8_t *)(uintptr_t)le64toh(e->in.address);
		return true;
	case FRAME_READ:
		return true;
	case FRAME_PROBE:
		return length == 0;
	case FRAME_ANSWER:
		return length == 0 && answered_post(e) != NULL;
	case FRAME_DATA:
		p = answered_post(e);
		if (p == NULL || length != (e->in.refused ? 0 : p->length))
			return false;
		e->left = length;
		e->into = (uint8_t *)(uintptr_t)p->address;
		return true;
	}
	return false;
}

/* `n` bytes have arrived. */
static void bytes_arrived(struct hp3x_endpoint *e, size_t n, struct report *r)
{
	uint64_t data = n < e->left ? n : e->left;

	if (e->have == FRAME) {
		e->left -= data;
		if (e->into != NULL)
			e->into += data;
		if (e->left > 0)
			return;
		frame_end(e, r);
		n -= data;
		e->in = e->ahead;
	}
	e->have += n;
	if (e->have < FRAME)
		return;
	if (!frame_begin(e))
		hp3x_tcp_endpoint_fail(e);
	else if (e->left == 0)
		frame_end(e, r);
}

static int arrival_vectors(struct hp3x_endpoint *e, struct iovec iov[2])
{
	if (e->have < FRAME) {
		iov[0] = (struct iovec){(uint8_t *)&e->in + e->have, FRAME - e->have};
		return 1;
	}
	if (e->into == NULL) {
		iov[0] = (struct iovec){nowhere, e->left < NOWHERE ? e->left : NOWHERE};
		return 1;
	}
	iov[0] = (struct iovec){e->into, e->left};
	iov[1] = (struct iovec){&e->ahead, FRAME};
	return 2;
}

bool hp3x_tcp_endpoint_receive(struct hp3x_endpoint *e, struct report *r)
{
	size_t most = MOST_RECEIVE;

	/* Two frames may end with one call. */
	while (e->state == ENDPOINT_UP && r->n + 2 <= r->most && most > 0) {
		struct iovec iov[2];
		ssize_t n = readv(e->source.fd, iov, arrival_vectors(e, iov));

		if (n > 0) {
			bytes_arrived(e, (size_t)n, r);
			most -= (size_t)n < most ? (size_t)n : most;
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			hp3x_tcp_endpoint_fail(e);
		} else if (errno == EAGAIN) {
			return false;
		}
	}
	return e->state == ENDPOINT_UP;
}
