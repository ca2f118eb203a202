/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3x-cp FILE HOST:FILE: the sender. It reads, hashes and writes up to COPY_SLOTS chunks ahead. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/xfer/copy.h"
#include "config/message.h"

struct slot {
	bool used;
	uint64_t chunk;
	size_t length;
};

struct sending {
	struct hp3x_domain *domain;
	struct hp3x_peer *peer;
	struct hp3x_region *region;
	struct hp3x_remote remote;
	const char *name; /* at the receiver */
	int fd;
	uint64_t size, n_chunks, next, done, sent, began, shown;
	uint8_t *slots;
	uint8_t (*hash)[COPY_HASH], (*known)[COPY_HASH];
	uint64_t hashes_due; /* of the partial file, that have not arrived */
	struct slot slot[COPY_SLOTS];
	bool ready, ending, ended, failed, shows;
};

static void send_fail(struct sending *s, const char *reason)
{
	if (!s->failed)
		hp3_message("hp3x-cp: %s%s", s->shows ? "\n" : "", reason);
	s->failed = true;
}

/* "HOST:NAME" or "[HOST]:NAME": the control address, and the name. */
static const char *target_read(const char *to, uint32_t port, char *address, size_t capacity)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	char host[256], text[64];
	const char *end = to[0] == '[' ? strchr(to, ']') : strchr(to, ':');
	const char *name = end == NULL ? NULL : to[0] == '[' ? end + 2 : end + 1;

	if (end == NULL || (to[0] == '[' && end[1] != ':') || end - to >= (int)sizeof(host)) {
		hp3_message(
			"hp3x-cp: %s: name the target as HOST:FILE, or as HOST: to keep the name",
			to);
		return NULL;
	}
	snprintf(host, sizeof(host), "%.*s", (int)(end - to - (to[0] == '[')), to + (to[0] == '['));
	if (getaddrinfo(host, NULL, &hints, &found) != 0) {
		hp3_message("hp3x-cp: %s: no such host: write its name or address", host);
		return NULL;
	}
	getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
	snprintf(address, capacity, found->ai_family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
	freeaddrinfo(found);
	return name;
}

static void progress_show(struct sending *s)
{
	uint64_t now = hp3_clock_ms(), bytes = s->done * COPY_CHUNK;

	if (!s->shows || (now - s->shown < 200 && !s->ended))
		return;
	s->shown = now;
	if (bytes > s->size)
		bytes = s->size;
	fprintf(stderr, "\r%3u %%  %llu of %llu MB, %.0f MB/s ",
		s->size == 0 ? 100 : (unsigned)(bytes * 100 / s->size),
		(unsigned long long)(bytes / 1000000), (unsigned long long)(s->size / 1000000),
		(double)s->sent / 1000 / (double)(now - s->began + 1));
	if (s->ended)
		fputc('\n', stderr);
}

/* Reads and hashes the next chunk. Sends it, unless the receiver has it. */
static void chunk_begin(struct sending *s, uint32_t slot)
{
	uint8_t *data = s->slots + (size_t)slot * COPY_CHUNK;
	size_t n = copy_chunk_length(s->size, s->next);
	struct hp3x_write w = {.from = s->region,
		.from_offset = (uint64_t)slot * COPY_CHUNK,
		.to = &s->remote,
		.to_offset = (uint64_t)slot * COPY_CHUNK,
		.length = n};

	if (pread(s->fd, data, n, (off_t)(s->next * COPY_CHUNK)) != (ssize_t)n) {
		send_fail(s, "the file cannot be read, or became shorter");
		return;
	}
	copy_hash(data, n, s->hash[s->next]);
	if (memcmp(s->hash[s->next], s->known[s->next], COPY_HASH) == 0) {
		s->next++;
		s->done++;
		return;
	}
	s->slot[slot] = (struct slot){true, s->next++, n};
	w.common.context = &s->slot[slot];
	if (hp3x_write(s->peer, &w) < 0)
		send_fail(s, hp3x_error());
}

static void chunks_begin(struct sending *s)
{
	for (uint32_t i = 0; i < COPY_SLOTS; i++)
		while (s->ready && s->hashes_due == 0 && !s->slot[i].used &&
			s->next < s->n_chunks && !s->failed) {
			chunk_begin(s, i);
			progress_show(s);
		}
	if (s->ready && s->hashes_due == 0 && s->done == s->n_chunks && !s->ending && !s->failed) {
		struct copy_message end = {.kind = COPY_END};

		copy_hash(s->hash, s->n_chunks * COPY_HASH, end.hash);
		s->ending = true;
		copy_tell(s->peer, &end, NULL, 0);
	}
}

static void completions_take(struct sending *s)
{
	struct hp3x_completion c;

	while (hp3x_poll(s->domain, &c, 1) > 0) {
		struct slot *slot = c.context;
		struct copy_message m = {.kind = COPY_CHUNK_IS};

		if (slot == NULL)
			continue; /* a message */
		if (c.status != HP3X_OK) {
			send_fail(s, c.status == HP3X_PEER_LOST ? hp3x_peer_reason(s->peer)
								: hp3x_status_name(c.status));
			continue;
		}
		m.slot = (uint32_t)(slot - s->slot);
		m.chunk = slot->chunk;
		m.length = slot->length;
		memcpy(m.hash, s->hash[slot->chunk], COPY_HASH);
		copy_tell(s->peer, &m, NULL, 0);
	}
}

static void ready_take(struct sending *s, const struct copy_message *m, const char *more)
{
	if (hp3x_remote_read(more, m->length, &s->remote) < 0 ||
		s->remote.length < (uint64_t)COPY_SLOTS * COPY_CHUNK) {
		send_fail(s, "the receiver has another version of hp3x-cp");
		return;
	}
	s->hashes_due = m->chunk < s->n_chunks ? m->chunk : s->n_chunks;
	s->ready = true;
}

static void hashes_take(struct sending *s, const struct copy_message *m, const char *more)
{
	uint64_t n = m->length / COPY_HASH;

	if (n > s->hashes_due || m->chunk > s->n_chunks || n > s->n_chunks - m->chunk) {
		send_fail(s, "the receiver has another version of hp3x-cp");
		return;
	}
	memcpy(s->known[m->chunk], more, n * COPY_HASH);
	s->hashes_due -= n;
}

static void message_take(struct sending *s, const struct copy_message *m, const char *more)
{
	switch (m->kind) {
	case COPY_READY:
		ready_take(s, m, more);
		break;
	case COPY_HASHES_ARE:
		hashes_take(s, m, more);
		break;
	case COPY_DONE:
		if (m->slot < COPY_SLOTS && s->slot[m->slot].used) {
			s->slot[m->slot].used = false;
			s->sent += s->slot[m->slot].length;
			s->done++;
		}
		break;
	case COPY_END:
		s->ended = s->ending;
		break;
	default:
		send_fail(s, m->kind == COPY_FAIL ? more : "the receiver has another version");
	}
}

static void messages_take(struct sending *s)
{
	static char data[HP3X_MOST_SEND + 1];
	struct copy_message m;
	struct hp3x_peer *peer;
	int n;

	while ((n = hp3x_receive(s->domain, data, HP3X_MOST_SEND, &peer)) >= 0) {
		data[n] = '\0';
		if ((size_t)n < sizeof(m))
			continue;
		memcpy(&m, data, sizeof(m));
		if (m.length <= (size_t)n - sizeof(m))
			message_take(s, &m, data + sizeof(m));
	}
}

static int file_open(struct sending *s, const char *from)
{
	struct stat st;

	s->fd = open(from, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st) < 0) {
		hp3_message("hp3x-cp: %s: %s", from, strerror(errno));
		return 1;
	}
	if (!S_ISREG(st.st_mode)) {
		hp3_message("hp3x-cp: %s: not a regular file: pack directories with tar", from);
		return 1;
	}
	s->size = (uint64_t)st.st_size;
	s->n_chunks = (s->size + COPY_CHUNK - 1) / COPY_CHUNK;
	s->hash = calloc(s->n_chunks + 1, COPY_HASH);
	s->known = calloc(s->n_chunks + 1, COPY_HASH);
	s->slots = malloc((size_t)COPY_SLOTS * COPY_CHUNK);
	if (s->hash == NULL || s->known == NULL || s->slots == NULL) {
		hp3_message("hp3x-cp: no memory");
		return 1;
	}
	return 0;
}

static void file_send(struct sending *s)
{
	struct copy_message put = {.kind = COPY_PUT, .length = s->size};

	s->began = hp3_clock_ms();
	copy_tell(s->peer, &put, s->name, strlen(s->name));
	while (!s->ended && !s->failed) {
		copy_wait(s->domain);
		messages_take(s);
		completions_take(s);
		chunks_begin(s);
		progress_show(s);
		if (!s->ended && !s->failed && hp3x_peer_state(s->peer) == HP3X_PEER_GONE)
			send_fail(s, hp3x_peer_reason(s->peer));
	}
}

int copy_send_file(const struct copy_options *o, const char *from, const char *to)
{
	struct sending s = {.shows = !o->quiet && isatty(STDERR_FILENO)};
	char address[80];

	s.name = target_read(to, o->port, address, sizeof(address));
	if (s.name == NULL || file_open(&s, from) != 0)
		return 1;
	if (s.name[0] == '\0')
		s.name = strrchr(from, '/') == NULL ? from : strrchr(from, '/') + 1;
	s.domain = copy_domain_open(o, NULL);
	if (s.domain == NULL)
		return 1;
	if (hp3x_region_add(s.domain, s.slots, (size_t)COPY_SLOTS * COPY_CHUNK, &s.region) < 0 ||
		hp3x_connect(s.domain, address, &s.peer) < 0)
		send_fail(&s, hp3x_error());
	else
		file_send(&s);
	if (!s.failed && !o->quiet)
		hp3_message("hp3x-cp: %s: %llu bytes, %llu of them sent, checksum right", from,
			(unsigned long long)s.size, (unsigned long long)s.sent);
	hp3x_close(s.domain);
	free(s.slots);
	free(s.hash);
	free(s.known);
	close(s.fd);
	return s.failed ? 1 : 0;
}
