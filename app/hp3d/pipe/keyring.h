/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_KEYRING_H
#define HP3D_KEYRING_H
/*
 * The keys that agents share: what probe_key and probe_key_old say, with the files that they name
 * read into memory. The main thread changes them in three steps, so that no lcore reads a table
 * that is gone: read, which may fail and changes nothing; take; and, when all lcores have taken
 * them over, settle. Files that are as they were are not exchanged.
 */
#include <stdio.h>
#include "config/config.h"
#include "probes/tag.h"

/* Below 0: a file is not as it should be; told to `err`. */
int hp3d_keyring_read(const struct hp3_config *cfg, FILE *err);

/* What was read last counts from now on. */
void hp3d_keyring_take(void);

/* No lcore has what counted before. */
void hp3d_keyring_settle(void);

/* What counts. */
const struct hp3_probe_keys *hp3d_keyring(void);

void hp3d_keyring_free(void);

#endif
