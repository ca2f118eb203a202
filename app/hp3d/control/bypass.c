/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/bypass.h"
#include <stdio.h>
#include "app/hp3d/lcores/bypass.h"

/* What was told last, by rail. */
static struct {
	enum hp3d_bypass_phase phase;
	uint32_t hangs, left_behind;
	bool told;
} told[HP3_CONFIG_RAILS_MAX];

static void tell(const struct hp3_config *cfg, unsigned rail, const struct hp3d_bypass_info *i)
{
	const char *name = cfg->rails[rail].name;

	switch (i->phase) {
	case HP3D_BYPASS_WAITING:
		fprintf(stderr,
			"hp3d: [rail.%s]: hp3d of process %u has these ports: everything is left "
			"to it until it ends\n",
			name, i->owner_pid);
		break;
	case HP3D_BYPASS_RUNNING:
		fprintf(stderr,
			"hp3d: [rail.%s]: takes RoCEv2 packets; all others, and these too if hp3d "
			"dies or hangs, go from port to port in the kernel\n",
			name);
		break;
	case HP3D_BYPASS_REPLACED:
		fprintf(stderr,
			"hp3d: [rail.%s]: hp3d of process %u has taken these ports over: nothing "
			"is left to do here, end this one\n",
			name, i->owner_pid);
		break;
	default:
		fprintf(stderr, "hp3d: [rail.%s]: %s: packets go from port to port in the kernel\n",
			name, hp3d_bypass_phase_name(i->phase));
		break;
	}
}

void hp3d_bypass_watch(const struct hp3_config *cfg)
{
	for (unsigned rail = 0; rail < cfg->n_rails; rail++) {
		const struct hp3d_bypass *b = hp3d_bypass(rail);
		struct hp3d_bypass_info i;

		if (b == NULL)
			continue;
		i = hp3d_bypass_info(b);
		if (i.left_behind != told[rail].left_behind)
			fprintf(stderr,
				"hp3d: [rail.%s]: %u packets were left behind: there was no moment "
				"in which nothing was inside\n",
				cfg->rails[rail].name, i.left_behind - told[rail].left_behind);
		if (i.hangs != told[rail].hangs)
			fprintf(stderr,
				"hp3d: [rail.%s]: no sign of life for more than %u ms: packets "
				"went direct meanwhile, those inside are given up\n",
				cfg->rails[rail].name, cfg->bypass.stale_ms);
		if ((!told[rail].told || i.phase != told[rail].phase ||
			    i.hangs != told[rail].hangs) &&
			i.phase != HP3D_BYPASS_SETTLING && i.phase != HP3D_BYPASS_LEAVING) {
			tell(cfg, rail, &i);
			told[rail].phase = i.phase;
			told[rail].told = true;
		}
		told[rail].hangs = i.hangs;
		told[rail].left_behind = i.left_behind;
	}
}
