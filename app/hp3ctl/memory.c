/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, also for JSON. */
#include <stdio.h>
#include <stdlib.h>
#include "app/hp3ctl/hp3ctl.h"
#include "app/hp3ctl/watch.h"

static const struct hp3ctl *user;

/* Prints the same error as hp3ctl_fail(), without allocating. */
void *hp3ctl_need(size_t n)
{
	void *mem = malloc(n);

	if (mem != NULL)
		return mem;
	hp3ctl_screen_close();
	if (user != NULL && user->json)
		puts("{\"v\":1,\"ok\":false,\"error\":{\"code\":\"no-memory\",\"text\":\"out of "
		     "memory\",\"fix\":\"free memory on this host\"}}");
	else
		fputs("hp3ctl: out of memory\n  free memory on this host\n", stderr);
	exit(HP3CTL_FAILED);
}

void hp3ctl_need_memory(const struct hp3ctl *ctl)
{
	user = ctl;
	json_set_alloc_funcs(hp3ctl_need, free);
}
