/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SECRETS_H
#define HP3D_SECRETS_H
/*
 * hp3d has secrets in its memory: its identity ([probes] keys = auto), or a configured key
 * (probe_key). With a secret, hp3d leaves no core dump, whatever kernel.core_pattern is. With or
 * without one, other users can write no file that hp3d creates.
 */
#include "config/config.h"

/* Sets the umask: other users can write no file created from now on. */
void hp3d_secrets_mask(void);
/* With a secret: no core dump from now on (prctl(2), PR_SET_DUMPABLE; RLIMIT_CORE). Repeatable. */
void hp3d_secrets_keep(const struct hp3_config *cfg);

#endif
