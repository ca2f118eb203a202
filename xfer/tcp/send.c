/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and answers of an endpoint leave: several frames with one system call, data uncopied. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "xfer/tcp/tcp.h"

static void flush_later(struct hp3x_endpoint *e)
{
	if (e->flushing || e->state == ENDPOINT_FAILED || e->state == ENDPOINT_SHUT)
		return;
	e->flushing = true;
	TAILQ_INSERT_TAIL(&e->rails->flush, e, flush);
}

int hp3x_tcp_endpoint_post(struct hp3x_endpoint *e, const struct hp3x_post *post)
{
	if (e->state == ENDPOINT_FAILED || e->state == ENDPOINT_SHUT)
		return -ENOTCONN;
	if (e->posts_added - e->posts_done == HP3X_POSTS)
		return -ENOBUFS;
	e->post[e->posts_added++ % HP3X_POSTS] = *post;
	flush_later(e);
	return 0;
}

void hp3x_tcp_answer_add(struct hp3x_endpoint *e, const struct answer *answer)
{
	/* The other end never has more requests under way. */
	if (e->answers_added - e->answers_staged == HP3X_POSTS) {
		hp3x_tcp_endpoint_fail(e);
		return;
	}
	e->answer[e->answers_added++ % HP3X_POSTS] = *answer;
	flush_later(e);
}

bool hp3x_tcp_answers_use(const struct hp3x_endpoint *e, const struct hp3x_memory *memory)
{
	for (uint64_t i = e->answers_staged; i < e->answers_added; i++)
		if (e->answer[i % HP3X_POSTS].memory == memory)
			return true;
	for (uint32_t i = 0; i < e->n_staged; i++)
		if (e->staged[(e->first_staged + i) % STAGED].memory == memory)
			return true;
	return false;
}

static struct staged *stage_next(struct hp3x_endpoint *e)
{
	struct staged *s = &e->staged[(e->first_staged + e->n_staged++) % STAGED];

	memset(s, 0, sizeof(*s));
	return s;
}

static void stage_answer(struct hp3x_endpoint *e)
{
	const struct answer *a = &e->answer[e->answers_staged++ % HP3X_POSTS];
	struct staged *s = stage_next(e);

	s->frame =
		(struct frame){.kind = a->kind, .refused = a->refused, .token = htole64(a->token)};
	if (a->data != NULL) {
		s->frame.length = htole32(a->length);
		s->data = a->data;
		s->length = a->length;
		s->memory = a->memory;
	}
}

static void stage_post(struct hp3x_endpoint *e)
{
	const struct hp3x_post *p = &e->post[e->posts_staged++ % HP3X_POSTS];
	struct staged *s = stage_next(e);

	s->frame = (struct frame){.kind = p->kind == HP3X_ACT_WRITE  ? FRAME_WRITE
					  : p->kind == HP3X_ACT_READ ? FRAME_READ
								     : FRAME_PROBE,
		.has_imm = p->has_imm,
		.length = htole32(p->length),
		.key = htole32(p->remote_key),
		.imm = htole32(p->imm),
		.address = htole64(p->remote),
		.token = htole64(p->token)};
	if (p->kind == HP3X_ACT_WRITE) {
		s->data = (const uint8_t *)(uintptr_t)p->address;
		s->length = p->length;
	}
}

static void stage_frames(struct hp3x_endpoint *e)
{
	while (e->n_staged < STAGED && e->answers_staged < e->answers_added)
		stage_answer(e);
	while (e->n_staged < STAGED && e->posts_staged < e->posts_added)
		stage_post(e);
}

static int staged_vectors(struct hp3x_endpoint *e, struct iovec *iov)
{
	size_t skip = e->sent;
	int n = 0;

	for (uint32_t i = 0; i < e->n_staged; i++) {
		struct staged *s = &e->staged[(e->first_staged + i) % STAGED];

		if (skip < FRAME)
			iov[n++] = (struct iovec){(uint8_t *)&s->frame + skip, FRAME - skip};
		skip = skip < FRAME ? 0 : skip - FRAME;
		if (s->length > skip)
			iov[n++] = (struct iovec){(uint8_t *)s->data + skip, s->length - skip};
		skip = 0;
	}
	return n;
}

static void staged_sent(struct hp3x_endpoint *e, size_t n)
{
	e->sent += n;
	while (e->n_staged > 0 && e->sent >= FRAME + e->staged[e->first_staged].length) {
		e->sent -= FRAME + e->staged[e->first_staged].length;
		e->first_staged = (e->first_staged + 1) % STAGED;
		e->n_staged--;
	}
}

void hp3x_tcp_endpoint_flush(struct hp3x_endpoint *e)
{
	while (e->state == ENDPOINT_UP && !e->blocked) {
		struct iovec iov[2 * STAGED];
		struct msghdr m = {.msg_iov = iov};
		ssize_t n;

		stage_frames(e);
		if (e->n_staged == 0)
			return;
		m.msg_iovlen = (size_t)staged_vectors(e, iov);
		n = sendmsg(e->source.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0)
			staged_sent(e, (size_t)n);
		else if (errno == EAGAIN)
			e->blocked = true; /* until EPOLLOUT */
		else if (errno != EINTR)
			hp3x_tcp_endpoint_fail(e);
	}
}

void hp3x_tcp_rails_flush(struct hp3x_rails *rails)
{
	struct hp3x_endpoint *e;

	while ((e = TAILQ_FIRST(&rails->flush)) != NULL) {
		TAILQ_REMOVE(&rails->flush, e, flush);
		e->flushing = false;
		hp3x_tcp_endpoint_flush(e);
	}
}
