/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SECRETS_H
#define HP3D_SECRETS_H
/*
 * Keys ([probes] keys) are in hp3d's memory. With keys, hp3d leaves no core dump, whatever
 * kernel.core_pattern is, and other users can write no file that it creates.
 */
#include "config/config.h"

/* Sets the umask: other users can write no file created from now on. */
void hp3d_secrets_mask(void);
/* With a key: no core dump from now on (prctl(2), PR_SET_DUMPABLE; RLIMIT_CORE). Repeatable. */
void hp3d_secrets_keep(const struct hp3_config *cfg);

#endif
