/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/xfer/copy.h"

void copy_hash(const void *data, size_t length, uint8_t hash[COPY_HASH])
{
	crypto_generichash(hash, COPY_HASH, data, length, NULL, 0);
}

size_t copy_chunk_length(uint64_t size, uint64_t chunk)
{
	uint64_t left = size - chunk * COPY_CHUNK;

	return left < COPY_CHUNK ? (size_t)left : COPY_CHUNK;
}

/* No name leads out of the directory. */
static bool name_is_plain(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
	       strlen(name) <= COPY_NAME;
}

static bool part_read(struct copy_part *p)
{
	uint8_t *data = malloc(COPY_CHUNK);
	struct stat st;

	if (data == NULL || fstat(p->fd, &st) < 0) {
		free(data);
		return false;
	}
	p->resumed = st.st_size > 0;
	for (uint64_t i = 0; i < p->n_chunks && i * COPY_CHUNK < (uint64_t)st.st_size; i++) {
		size_t n = copy_chunk_length(p->size, i);

		if (pread(p->fd, data, n, (off_t)(i * COPY_CHUNK)) == (ssize_t)n)
			copy_hash(data, n, p->hash[i]);
	}
	free(data);
	return true;
}

const char *copy_part_open(struct copy_part *p, int directory, const char *name, uint64_t size)
{
	*p = (struct copy_part){.directory = directory,
		.fd = -1,
		.size = size,
		.n_chunks = (size + COPY_CHUNK - 1) / COPY_CHUNK};
	if (!name_is_plain(name))
		return "the name of the file must have no / and no . in front, and at most 200 "
		       "bytes";
	if (size > (uint64_t)1 << 50)
		return "the file is larger than 1 PiB";
	snprintf(p->name, sizeof(p->name), "%.200s", name);
	snprintf(p->part, sizeof(p->part), ".%.200s.hp3x-part", name);
	p->fd = openat(directory, p->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (p->fd < 0)
		return "the receiver cannot write into its directory";
	if (flock(p->fd, LOCK_EX | LOCK_NB) < 0)
		return "another hp3x-cp sends a file of this name now";
	p->hash = calloc(p->n_chunks + 1, COPY_HASH);
	if (p->hash == NULL || !part_read(p))
		return "the receiver has no memory, or cannot read the partial file";
	if (ftruncate(p->fd, (off_t)size) < 0)
		return "the receiver cannot make a file of this size";
	return NULL;
}

bool copy_part_write(struct copy_part *p, const struct copy_message *chunk, const void *data)
{
	ssize_t n = pwrite(p->fd, data, chunk->length, (off_t)(chunk->chunk * COPY_CHUNK));

	if (n != (ssize_t)chunk->length) {
		errno = n < 0 ? errno : ENOSPC;
		return false;
	}
	memcpy(p->hash[chunk->chunk], chunk->hash, COPY_HASH);
	return true;
}

const char *copy_part_end(struct copy_part *p, const uint8_t hash[COPY_HASH])
{
	uint8_t own[COPY_HASH];

	copy_hash(p->hash, p->n_chunks * COPY_HASH, own);
	if (memcmp(own, hash, COPY_HASH) != 0)
		return "the checksums of the two files differ: send the file again";
	if (fsync(p->fd) < 0)
		return "the receiver's disk has failed";
	if (renameat(p->directory, p->part, p->directory, p->name) < 0)
		return "the receiver cannot give the file its name";
	return NULL;
}

void copy_part_close(struct copy_part *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	free(p->hash);
	p->hash = NULL;
}
