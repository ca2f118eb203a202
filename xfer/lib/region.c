/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of a domain, and descriptors of regions for peers. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc.h"
#include "xfer/lib/internal.h"

/* Little-endian. As many keys follow as there are rails, then a CRC-32 of all bytes before it. */
struct descriptor {
	char magic[8];
	uint64_t address, length, domain;
	uint32_t n_rails, reserved;
};

#define DESCRIPTOR_MAGIC "hp3x-d1"

_Static_assert(sizeof(struct descriptor) + 4 * (HP3X_RAILS + 1) <= HP3X_DESCRIPTION, "it fits");

static int region_new(struct hp3x_domain *d, size_t length, struct hp3x_region **region)
{
	struct hp3x_region *r;

	if (length == 0)
		return hp3x_error_set(-EINVAL, "a region of 0 bytes: pass at least 1");
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return hp3x_error_set(-ENOMEM, "no memory for a region");
	r->domain = d;
	r->length = length;
	*region = r;
	return 0;
}

static int region_added(struct hp3x_region *r, int error, struct hp3x_region **region)
{
	if (error == 0)
		LIST_INSERT_HEAD(&r->domain->regions, r, next);
	hp3x_unlock(r->domain);
	if (error < 0)
		free(r);
	else
		*region = r;
	return error;
}

int hp3x_region_add(struct hp3x_domain *d, void *base, size_t length, struct hp3x_region **region)
{
	struct hp3x_region *r;
	int error = region_new(d, length, &r);

	if (error < 0)
		return error;
	r->address = (uintptr_t)base;
	hp3x_lock(d);
	error = d->provider->memory_add(d->rails, base, length, &r->memory, r->key);
	return region_added(r, error, region);
}

int hp3x_region_add_dmabuf(struct hp3x_domain *d, int fd, uint64_t offset, size_t length,
	uint64_t address, struct hp3x_region **region)
{
	struct hp3x_dmabuf dmabuf = {fd, offset, length, address};
	struct hp3x_region *r;
	int error;

	if (d->provider->memory_add_dmabuf == NULL)
		return hp3x_error_set(-EOPNOTSUPP,
			"provider %s has no dma-buf: use host memory, or a provider for RNICs",
			d->provider->name);
	error = region_new(d, length, &r);
	if (error < 0)
		return error;
	r->address = address;
	hp3x_lock(d);
	error = d->provider->memory_add_dmabuf(d->rails, &dmabuf, &r->memory, r->key);
	return region_added(r, error, region);
}

int hp3x_region_remove(struct hp3x_region *r)
{
	struct hp3x_domain *d = r->domain;

	hp3x_lock(d);
	if (r->ops > 0) {
		uint32_t ops = r->ops;

		hp3x_unlock(d);
		return hp3x_error_set(
			-EBUSY, "%u ops use the region: wait for their completions first", ops);
	}
	d->provider->memory_remove(d->rails, r->memory);
	LIST_REMOVE(r, next);
	hp3x_unlock(d);
	free(r);
	return 0;
}

static uint32_t crc_of(const uint8_t *text, size_t n)
{
	return ~hp3_crc_reflected(hp3_crc_table_32, UINT32_MAX, text, n);
}

int hp3x_region_describe(const struct hp3x_region *r, void *text, size_t capacity)
{
	uint32_t n = r->domain->n_rails, word;
	struct descriptor d = {.magic = DESCRIPTOR_MAGIC,
		.address = htole64(r->address),
		.length = htole64(r->length),
		.domain = htole64(r->domain->config.identity),
		.n_rails = htole32(n)};
	size_t length = sizeof(d) + (size_t)4 * n;
	uint8_t *at = text;

	if (capacity < length + 4)
		return hp3x_error_set(-ENOSPC, "the descriptor has %zu bytes: pass a buffer of %u",
			length + 4, HP3X_DESCRIPTION);
	memcpy(at, &d, sizeof(d));
	for (uint32_t i = 0; i < n; i++) {
		word = htole32(r->key[i]);
		memcpy(at + sizeof(d) + (size_t)4 * i, &word, 4);
	}
	word = htole32(crc_of(at, length));
	memcpy(at + length, &word, 4);
	return (int)length + 4;
}

int hp3x_remote_read(const void *text, size_t length, struct hp3x_remote *remote)
{
	const uint8_t *at = text;
	struct descriptor d;
	uint32_t word = 0, n = 0;

	if (length >= sizeof(d) + 4) {
		memcpy(&d, text, sizeof(d));
		memcpy(&word, at + length - 4, 4);
		n = le32toh(d.n_rails);
	}
	if (n == 0 || n > HP3X_RAILS || length != sizeof(d) + (size_t)4 * (n + 1) ||
		memcmp(d.magic, DESCRIPTOR_MAGIC, sizeof(d.magic)) != 0 ||
		le32toh(word) != crc_of(at, length - 4))
		return hp3x_error_set(-EBADMSG,
			"this is no descriptor of a region, or of another version of libhp3x: "
			"pass all bytes of hp3x_region_describe()");
	*remote = (struct hp3x_remote){.address = le64toh(d.address),
		.length = le64toh(d.length),
		.domain = le64toh(d.domain),
		.n_rails = n};
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&word, at + sizeof(d) + (size_t)4 * i, 4);
		remote->key[i] = le32toh(word);
	}
	return 0;
}
