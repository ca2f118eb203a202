/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3x-cp --serve: the receiver. Each peer sends one file at a time, into one directory. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/xfer/copy.h"
#include "config/message.h"

struct session {
	struct session *next;
	struct hp3x_peer *peer;
	struct copy_part part;
	struct hp3x_region *region;
	uint8_t *slots;
	bool open; /* `part` is */
};

static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
	stopped = 1;
}

static void session_fail(struct session *s, const char *reason)
{
	struct copy_message m = {.kind = COPY_FAIL, .length = strlen(reason)};

	copy_tell(s->peer, &m, reason, m.length);
	if (s->open)
		copy_part_close(&s->part);
	s->open = false;
}

/* Tells which chunks the partial file has. */
static void hashes_tell(struct session *s)
{
	for (uint64_t i = 0; i < s->part.n_chunks; i += COPY_HASHES) {
		uint64_t left = s->part.n_chunks - i;
		uint64_t n = left < COPY_HASHES ? left : COPY_HASHES;
		struct copy_message m = {
			.kind = COPY_HASHES_ARE, .chunk = i, .length = n * COPY_HASH};

		if (!copy_tell(s->peer, &m, s->part.hash[i], m.length))
			return;
	}
}

static void put_take(
	struct session *s, int directory, const struct copy_message *m, const char *name)
{
	struct copy_message ready = {.kind = COPY_READY};
	char text[HP3X_DESCRIPTION];
	const char *wrong;
	int n;

	if (s->open)
		copy_part_close(&s->part);
	wrong = copy_part_open(&s->part, directory, name, m->length);
	s->open = true;
	if (wrong != NULL) {
		session_fail(s, wrong);
		return;
	}
	n = hp3x_region_describe(s->region, text, sizeof(text));
	ready.chunk = s->part.resumed ? s->part.n_chunks : 0; /* hashes that follow */
	ready.length = n > 0 ? (uint64_t)n : 0;
	if (n > 0 && copy_tell(s->peer, &ready, text, (size_t)n) && s->part.resumed)
		hashes_tell(s);
}

static void chunk_take(struct session *s, const struct copy_message *m)
{
	struct copy_message done = {.kind = COPY_DONE, .slot = m->slot, .chunk = m->chunk};
	uint8_t own[COPY_HASH], *data = s->slots + (size_t)m->slot * COPY_CHUNK;

	if (!s->open || m->slot >= COPY_SLOTS || m->chunk >= s->part.n_chunks ||
		m->length != copy_chunk_length(s->part.size, m->chunk)) {
		session_fail(s, "the sender has sent a chunk that makes no sense");
		return;
	}
	copy_hash(data, m->length, own);
	if (memcmp(own, m->hash, COPY_HASH) != 0)
		session_fail(s, "a chunk has arrived with a wrong checksum: send the file again");
	else if (!copy_part_write(&s->part, m, data))
		session_fail(s, errno == ENOSPC ? "the receiver's disk is full"
						: "the receiver cannot write the file");
	else
		copy_tell(s->peer, &done, NULL, 0);
}

static void end_take(struct session *s, const struct copy_message *m)
{
	struct copy_message end = {.kind = COPY_END};
	const char *wrong = s->open ? copy_part_end(&s->part, m->hash) : "no file is open";

	if (wrong != NULL) {
		session_fail(s, wrong);
		return;
	}
	copy_part_close(&s->part);
	s->open = false;
	copy_tell(s->peer, &end, NULL, 0);
}

static struct session *session_open(
	struct hp3x_domain *d, struct hp3x_peer *peer, struct session *next)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->slots = malloc((size_t)COPY_SLOTS * COPY_CHUNK);
	if (s->slots == NULL ||
		hp3x_region_add(d, s->slots, (size_t)COPY_SLOTS * COPY_CHUNK, &s->region) < 0) {
		free(s->slots);
		free(s);
		return NULL;
	}
	s->peer = peer;
	s->next = next;
	hp3x_peer_set_context(peer, s);
	return s;
}

static void session_close(struct session *s)
{
	if (s->open)
		copy_part_close(&s->part);
	hp3x_peer_close(s->peer);
	hp3x_region_remove(s->region);
	free(s->slots);
	free(s);
}

static void messages_take(struct hp3x_domain *d, int directory)
{
	static char data[HP3X_MOST_SEND + 1];
	struct copy_message m;
	struct hp3x_peer *peer;
	int n;

	while ((n = hp3x_receive(d, data, HP3X_MOST_SEND, &peer)) >= 0) {
		struct session *s = hp3x_peer_context(peer);

		if (s == NULL || (size_t)n < sizeof(m))
			continue;
		memcpy(&m, data, sizeof(m));
		data[n] = '\0';
		if (m.kind == COPY_PUT)
			put_take(s, directory, &m, data + sizeof(m));
		else if (m.kind == COPY_CHUNK_IS)
			chunk_take(s, &m);
		else if (m.kind == COPY_END)
			end_take(s, &m);
		else
			session_fail(s, "the sender has another version of hp3x-cp");
	}
}

/* New peers, and those that are gone. */
static struct session *sessions_update(struct hp3x_domain *d, struct session *first)
{
	struct hp3x_completion c;
	struct hp3x_peer *peer;

	while (hp3x_poll(d, &c, 1) > 0)
		;
	while (hp3x_accept(d, &peer) > 0) {
		struct session *s = session_open(d, peer, first);

		if (s == NULL)
			hp3x_peer_close(peer);
		else
			first = s;
	}
	for (struct session **at = &first; *at != NULL;) {
		struct session *s = *at;

		if (hp3x_peer_state(s->peer) != HP3X_PEER_GONE) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		session_close(s);
	}
	return first;
}

int copy_serve_directory(const struct copy_options *o, const char *directory)
{
	struct sigaction stop = {.sa_handler = on_stop};
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct session *first = NULL;
	struct hp3x_domain *d;
	char listen[32];

	if (fd < 0) {
		hp3_message("hp3x-cp: %s: %s", directory, strerror(errno));
		return 1;
	}
	snprintf(listen, sizeof(listen), "0.0.0.0:%u", o->port);
	d = copy_domain_open(o, listen);
	if (d == NULL)
		return 1;
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	if (!o->quiet)
		hp3_message("hp3x-cp: receives files into %s on port %u", directory, o->port);
	while (!stopped) {
		copy_wait(d);
		first = sessions_update(d, first);
		messages_take(d, fd);
	}
	while (first != NULL) {
		struct session *s = first;

		first = s->next;
		session_close(s);
	}
	hp3x_close(d);
	close(fd);
	return 0;
}
