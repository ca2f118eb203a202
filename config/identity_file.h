/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_IDENTITY_FILE_H
#define HP3_CONFIG_IDENTITY_FILE_H
/*
 * The file "identity" in hp3d's state folder ([service] state): the seed of this host's identity
 * (probes/identity.h). hp3d makes it when it starts for the first time. One line counts, the others
 * are comments:
 *
 *     x25519 SEED FINGERPRINT
 *
 * SEED: 64 hexadecimal digits. FINGERPRINT: that of the public key, so that damage is noticed.
 *
 * Invariants: the file is complete or absent, whatever ends hp3d. Nobody but root and hp3d's own
 * user can read or replace it.
 */
#include <stdio.h>
#include "probes/identity.h"

enum hp3_identity_place {
	HP3_IDENTITY_READ, /* was there */
	HP3_IDENTITY_MADE, /* was not: it is now */
	HP3_IDENTITY_IN_MEMORY, /* cannot be kept: good for this run */
};

/*
 * `folder`: "": keep nothing. An enum hp3_identity_place; below 0, and told to `err` what is wrong
 * and what to do: -EPERM: others can read or replace it, -EINVAL: it is damaged, else -errno.
 * IN_MEMORY: the reason is told to `err`.
 */
int hp3_identity_file_open(const char *folder, struct hp3_identity *id, FILE *err);

/* *id: another host has it, too. It becomes a new identity, which the file has, or IN_MEMORY. If
 * another hp3d of this host has replaced it in the file, that one: READ. As
 * hp3_identity_file_open(). */
int hp3_identity_file_renew(const char *folder, struct hp3_identity *id, FILE *err);

#endif
