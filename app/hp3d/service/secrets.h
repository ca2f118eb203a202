/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SECRETS_H
#define HP3D_SECRETS_H
/*
 * Keys ([probes] keys) are in hp3d's memory. A process with keys leaves no core dump, whatever
 * kernel.core_pattern says, and nothing that hp3d creates can be written by other users.
 */
#include "config/config.h"

/* No file that is created from now on can be written by other users. */
void hp3d_secrets_mask(void);
/* With a key: no core dump from now on (prctl(2), PR_SET_DUMPABLE; RLIMIT_CORE). Repeatable. */
void hp3d_secrets_keep(const struct hp3_config *cfg);

#endif
