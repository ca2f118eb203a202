/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Names of hosts, leaves and planners consist of letters, digits, '-' and '_'. So a name is one
 * token of a NATS subject, and never needs quotes. "" is valid, too, and means: no name.
 */
#include <stdbool.h>

static inline bool hp3_fleet_is_name(const char *name)
{
	for (; *name != '\0'; name++)
		if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
			    (*name >= '0' && *name <= '9') || *name == '-' || *name == '_'))
			return false;
	return true;
}
