/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/identity.h"

static struct hp3d_identity current;

void hp3d_identity_set(const struct hp3d_identity *id)
{
	current = *id;
}

const struct hp3d_identity *hp3d_identity(void)
{
	return &current;
}
