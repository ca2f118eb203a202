/* SPDX-License-Identifier: BSD-3-Clause */
/* No second thread in the simulation: the main thread computes X25519. */
#include "app/hp3d/keys/keys.h"

int __wrap_hp3d_keys_start(const struct hp3_config *cfg);
void __wrap_hp3d_keys_watch(const struct hp3_config *cfg);

int __wrap_hp3d_keys_start(const struct hp3_config *cfg)
{
	return 0;
}

void __wrap_hp3d_keys_watch(const struct hp3_config *cfg)
{
	while (hp3d_keys_compute())
		;
}
