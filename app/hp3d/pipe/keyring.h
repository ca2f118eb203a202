/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The keys that agents share: those of probe_key and probe_key_old, with the files that they name
 * read into memory. The main thread changes the keys in three steps, so that no lcore reads a freed
 * table. The steps are hp3d_keyring_read(), hp3d_keyring_take(), and, when all lcores use the new
 * keys, hp3d_keyring_settle(). hp3d_keyring_read() may fail, and changes no key in effect.
 * Unchanged files keep their tables.
 */
#include <stdio.h>
#include "config/config.h"
#include "probes/identity.h"
#include "probes/tag.h"

/* Negative: a file is invalid; the message is written to `err`. */
int hp3d_keyring_read(const struct hp3_config *cfg, FILE *err);

/* Puts the keys that were read last into effect. */
void hp3d_keyring_take(void);

/* Frees the previous keys, which no lcore may use any more. */
void hp3d_keyring_settle(void);

/* The keys in effect. */
const struct hp3_probe_keys *hp3d_keyring(void);

void hp3d_keyring_free(void);

/*
 * This host's identity for key agreement ([probes] keys = auto). The main thread sets it before it
 * creates agents, and all agents begin with it. hp3d_agent_become() passes a later identity to an
 * agent.
 */
struct hp3d_identity {
	struct hp3_identity keys;
	uint64_t instance; /* identifies this boot of the host */
	uint64_t born_us; /* wall clock at the boot, us */
};

void hp3d_identity_set(const struct hp3d_identity *id);
const struct hp3d_identity *hp3d_identity(void);
