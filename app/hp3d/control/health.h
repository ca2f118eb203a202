/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The answer to "health" has a list of warnings: all conditions in the answer that need an
 * operator. The status is "ok" only if the list is empty. A condition that hp3d counts stays in the
 * list until hp3d ends.
 */
#include <jansson.h>

/* The warnings {"code","text","fix"} for these data of the answer. NULL: no memory. */
json_t *hp3d_health_warnings(json_t *health);
