/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/pipe/keyring.h"
#include "config/key_file.h"

/* Tables that were replaced while an lcore did not answer are never freed: it may still read
 * them. */
static struct {
	struct hp3_probe_keys now, next, before;
} ring;

static bool has_table(const struct hp3_probe_keys *keys, const struct hp3_pair_keys *pairs)
{
	return keys->key[0].pairs == pairs || keys->key[1].pairs == pairs;
}

static void drop_tables(struct hp3_probe_keys *keys, const struct hp3_probe_keys *in_use)
{
	for (unsigned i = 0; i < HP3_PROBE_KEYS; i++) {
		const struct hp3_pair_keys *pairs = keys->key[i].pairs;

		if (!has_table(in_use, pairs) && (i == 0 || pairs != keys->key[0].pairs))
			free((void *)(uintptr_t)pairs);
	}
	memset(keys, 0, sizeof(*keys));
}

/* Keeps the table in effect if the file has not changed. Both keys may name the same file: each key
 * has its own table. */
static void reuse_table(unsigned at)
{
	struct hp3_probe_key *key = &ring.next.key[at];

	for (unsigned i = 0; i < HP3_PROBE_KEYS; i++) {
		const struct hp3_probe_key *old = &ring.now.key[(at + i) % HP3_PROBE_KEYS];

		if (old->pairs == NULL || memcmp(old->bytes, key->bytes, sizeof(key->bytes)) != 0)
			continue;
		free((void *)(uintptr_t)key->pairs);
		key->pairs = old->pairs;
		return;
	}
}

int hp3d_keyring_read(const struct hp3_config *cfg, FILE *err)
{
	const char *said[HP3_PROBE_KEYS] = {cfg->probes.probe_key, cfg->probes.probe_key_old};

	drop_tables(&ring.next, &ring.now);
	for (unsigned i = 0; i < HP3_PROBE_KEYS; i++) {
		int ret;

		if (!hp3_is_key_file(said[i])) {
			ring.next.key[i] = hp3_key_of_text(said[i]);
			continue;
		}
		ret = hp3_key_file_read(said[i], &ring.next.key[i], err);
		if (ret < 0) {
			drop_tables(&ring.next, &ring.now);
			return ret;
		}
		reuse_table(i);
	}
	return 0;
}

void hp3d_keyring_take(void)
{
	ring.before = ring.now;
	ring.now = ring.next;
	memset(&ring.next, 0, sizeof(ring.next));
}

void hp3d_keyring_settle(void)
{
	drop_tables(&ring.before, &ring.now);
}

const struct hp3_probe_keys *hp3d_keyring(void)
{
	return &ring.now;
}

void hp3d_keyring_free(void)
{
	hp3d_keyring_take();
	hp3d_keyring_settle();
}

static struct hp3d_identity own_identity;

void hp3d_identity_set(const struct hp3d_identity *id)
{
	own_identity = *id;
}

const struct hp3d_identity *hp3d_identity(void)
{
	return &own_identity;
}
