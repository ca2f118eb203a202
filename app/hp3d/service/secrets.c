/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/service/service.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

void hp3d_secrets_mask(void)
{
	umask(umask(077) | 022);
}

void hp3d_secrets_keep(const struct hp3_config *cfg)
{
	struct rlimit r;

	if (!hp3_config_has_secret(cfg))
		return;
	if (getrlimit(RLIMIT_CORE, &r) == 0) {
		r.rlim_cur = 0;
		setrlimit(RLIMIT_CORE, &r);
	}
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		fprintf(stderr,
			"hp3d: a core dump would have the key in it, and cannot be prevented (%s): "
			"set LimitCORE=0 in its unit\n",
			strerror(errno));
}
