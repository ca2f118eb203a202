/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The file "identity" in hp3d's state folder ([service] state) has the seed of this host's identity
 * (probes/identity.h). If the file does not exist when hp3d starts, hp3d writes it. hp3d reads only
 * this line of the file:
 *
 *     x25519 SEED FINGERPRINT
 *
 * SEED has 64 hexadecimal digits. FINGERPRINT is that of the public key, to detect a damaged file.
 *
 * Invariants: the file is complete or absent, even if hp3d is killed. Only root and hp3d's own user
 * can read or replace it.
 */
#include <stdio.h>
#include "probes/identity.h"

enum hp3_identity_place {
	HP3_IDENTITY_READ, /* read from the file */
	HP3_IDENTITY_MADE, /* new, and written to the file */
	HP3_IDENTITY_IN_MEMORY, /* new, and not stored: lost when hp3d ends */
};

/*
 * Reads the identity from the file, or makes a new identity and writes it to the file. If `folder`
 * is "", nothing is stored.
 *
 * Returns an enum hp3_identity_place, or a negative errno. -EPERM: other users can read or replace
 * the file; -EINVAL: the file is damaged. If there is an error, or the identity could not be
 * stored, the function writes a message with the reason and the fix to `err`.
 */
int hp3_identity_file_open(const char *folder, struct hp3_identity *id, FILE *err);

/*
 * Replaces *id by a new identity, because another host has the same identity. Writes the new
 * identity to the file; if this fails, the result is IN_MEMORY. If another hp3d of this host has
 * already replaced the file, *id becomes the identity in the file, and the result is READ. All
 * other results are as of hp3_identity_file_open().
 */
int hp3_identity_file_renew(const char *folder, struct hp3_identity *id, FILE *err);
