/* SPDX-License-Identifier: BSD-3-Clause */
/* No function here needs sodium_init(): they keep no state and pick no implementation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sodium/crypto_hash_sha256.h>
#include <sodium/utils.h>
#include "base/plain.h"
#include "sim/core/input.h"
#include "sim/core/memory.h"

struct stream {
	crypto_hash_sha256_state hash;
	struct sim_input *in;
	FILE *from;
};

void sim_sha256(const void *data, size_t n, char hex[SIM_SHA256_HEX])
{
	unsigned char digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(digest, data, n);
	sodium_bin2hex(hex, SIM_SHA256_HEX, digest, sizeof(digest));
}

static ssize_t stream_read(void *cookie, char *buf, size_t size)
{
	struct stream *s = cookie;
	size_t n = fread(buf, 1, size, s->from);

	crypto_hash_sha256_update(&s->hash, (unsigned char *)buf, n);
	return n == 0 && ferror(s->from) ? -1 : (ssize_t)n;
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
	sodium_bin2hex(s->in->sha256, sizeof(s->in->sha256), digest, sizeof(digest));
	fclose(s->from);
	free(s);
	return (int)n;
}

FILE *sim_input_open(struct sim_input *in, const char *name, const char *text)
{
	FILE *from = text != NULL ? fmemopen((void *)(uintptr_t)text, strlen(text), "r")
				  : fopen(name, "re");
	struct stream *s;
	FILE *f;

	if (from == NULL)
		return NULL;
	s = sim_alloc(1, sizeof(*s));
	s->in = in;
	s->from = from;
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
