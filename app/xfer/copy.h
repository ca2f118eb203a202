/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3x-cp: what the two ends tell each other, and the file at the receiver.
 *
 *     sender                                receiver
 *       PUT name, size          -->
 *                               <--         READY descriptor of a buffer of SLOTS chunks
 *                               <--         HASHES of the chunks of a partial file, if there is one
 *       (write into a slot)     -->
 *       CHUNK slot, hash        -->         checks the hash, writes the chunk to the partial file
 *                               <--         DONE slot
 *       END hash of all hashes  -->         checks it, gives the file its name
 *                               <--         END
 *
 * Each end may send FAIL with a sentence instead. Numbers are in the byte order of the sender,
 * which must be little-endian, as on all hosts of hp3.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "xfer/hp3x.h"

#define COPY_CHUNK (1u << 20)
#define COPY_SLOTS 16u
#define COPY_NAME  200u /* longest name of a file */
#define COPY_HASH  16u /* BLAKE2b-128 */
#define COPY_PORT  18515
/* Hashes of one message. */
#define COPY_HASHES 2048u

enum copy_kind {
	COPY_PUT = 1,
	COPY_READY,
	COPY_HASHES_ARE,
	COPY_CHUNK_IS,
	COPY_DONE,
	COPY_END,
	COPY_FAIL,
};

struct copy_message {
	uint32_t kind, slot;
	uint64_t chunk; /* CHUNK, DONE; HASHES: the first one */
	uint64_t length; /* PUT: of the file. CHUNK: of the chunk. HASHES, READY: of what follows */
	uint8_t hash[COPY_HASH];
	/* Name, descriptor, hashes or sentence follow. */
};

struct copy_options {
	const char *provider;
	const char *rails[HP3X_RAILS];
	uint32_t n_rails;
	uint32_t port;
	bool quiet;
};

/* The file at the receiver until it is complete: ".NAME.hp3x-part", locked. */
struct copy_part {
	int directory, fd;
	char name[COPY_NAME + 1], part[COPY_NAME + 16];
	uint64_t size, n_chunks;
	uint8_t (*hash)[COPY_HASH]; /* of each chunk; zero: not known */
	bool resumed;
};

/* --- copy_part.c --- */

void copy_hash(const void *data, size_t length, uint8_t hash[COPY_HASH]);
/* Opens or creates the partial file, and hashes what it has. NULL, or a sentence. */
const char *copy_part_open(struct copy_part *part, int directory, const char *name, uint64_t size);
/* A CHUNK whose hash is right. False: the disk has no room, or another error in errno. */
bool copy_part_write(struct copy_part *part, const struct copy_message *chunk, const void *data);
/* The file gets its name if all hashes are known and fit `hash`. NULL, or a sentence. */
const char *copy_part_end(struct copy_part *part, const uint8_t hash[COPY_HASH]);
/* The partial file stays, for the next time. */
void copy_part_close(struct copy_part *part);
size_t copy_chunk_length(uint64_t size, uint64_t chunk);

/* --- copy_send.c, copy_serve.c: exit codes --- */

int copy_send_file(const struct copy_options *options, const char *from, const char *to);
int copy_serve_directory(const struct copy_options *options, const char *directory);

/* --- copy_main.c --- */

struct hp3x_domain *copy_domain_open(const struct copy_options *options, const char *listen);
/* Waits for messages or completions, at most a second. */
void copy_wait(struct hp3x_domain *domain);
/* Sends a message and what follows it. False: the peer is gone. */
bool copy_tell(struct hp3x_peer *peer, const struct copy_message *message, const void *more,
	size_t length);
