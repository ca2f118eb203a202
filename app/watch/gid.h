/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_GID_H
#define HP3_WATCH_GID_H
/* Entries of a device's GID table in sysfs (Documentation/ABI sysfs-class-infiniband). */
#include "app/watch/qps.h"

/*
 * Reads an entry. 0; -EINVAL: invalid name of a device, or invalid GID; -EPROTONOSUPPORT: the entry
 * is not for RoCEv2; otherwise the error of reading the files.
 */
int hp3_gid_read(
	const char *sysfs, const char *device, unsigned port, unsigned index, struct hp3_gid *out);

#endif
