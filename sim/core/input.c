/* SPDX-License-Identifier: BSD-3-Clause */
/* crypto_hash_sha256 needs no sodium_init(): it keeps no state and picks no implementation. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sodium/crypto_hash_sha256.h>
#include "base/plain.h"
#include "sim/core/input.h"
#include "sim/core/memory.h"

struct stream {
	crypto_hash_sha256_state hash;
	struct sim_input *in;
	int fd; /* -1: of `text` */
	const char *text;
	size_t left; /* of `text` */
};

static void write_hex_digest(const unsigned char *digest, char hex[SIM_SHA256_HEX])
{
	for (unsigned i = 0; i < crypto_hash_sha256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void sim_sha256(const void *data, size_t n, char hex[SIM_SHA256_HEX])
{
	unsigned char digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(digest, data, n);
	write_hex_digest(digest, hex);
}

static ssize_t stream_read(void *cookie, char *buf, size_t size)
{
	struct stream *s = cookie;
	ssize_t n;

	if (s->fd >= 0) {
		n = read(s->fd, buf, size);
	} else {
		n = (ssize_t)(size < s->left ? size : s->left);
		memcpy(buf, s->text, (size_t)n);
		s->text += n;
		s->left -= (size_t)n;
	}
	if (n > 0)
		crypto_hash_sha256_update(&s->hash, (unsigned char *)buf, (size_t)n);
	return n;
}

static int stream_close(void *cookie)
{
	struct stream *s = cookie;
	unsigned char digest[crypto_hash_sha256_BYTES];
	char rest[4096];
	ssize_t n;

	do
		n = stream_read(s, rest, sizeof(rest));
	while (n > 0);
	crypto_hash_sha256_final(&s->hash, digest);
	write_hex_digest(digest, s->in->sha256);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
	return (int)n;
}

FILE *sim_input_open(struct sim_input *in, const char *name, const char *text)
{
	struct stream *s;
	int fd = -1;
	FILE *f;

	if (text == NULL)
		fd = open(name, O_RDONLY | O_CLOEXEC);
	if (text == NULL && fd < 0)
		return NULL;
	s = sim_alloc(1, sizeof(*s));
	*s = (struct stream){
		.in = in, .fd = fd, .text = text, .left = text != NULL ? strlen(text) : 0};
	crypto_hash_sha256_init(&s->hash);
	in->sha256[0] = '\0';
	snprintf(in->name, sizeof(in->name), "%s", name);
	hp3_plain(in->name);
	f = fopencookie(
		s, "r", (cookie_io_functions_t){.read = stream_read, .close = stream_close});
	if (f == NULL)
		stream_close(s);
	return f;
}

int sim_input_read(struct sim_input *in, const char *name, const char *text)
{
	FILE *f = sim_input_open(in, name, text);

	return f != NULL && fclose(f) == 0 ? 0 : -errno;
}
