/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Which ports of this host's RNICs have handled CNPs lately, by their hw_counters in sysfs. There
 * is a counter per port, not per queue pair. hp3d reads the list of ports once. hp3d compares
 * device names from applications with this list, and makes no path from these names.
 *
 * The main thread reads the counters a few times per second, because each read may query the
 * firmware. The lcore reads this table without a lock.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3D_PORT_NEWS_MAX 32u /* ports */
#define HP3D_PORT_UNKNOWN  0u /* the port of a queue pair is not looked up yet */

struct hp3d_port_news {
	struct {
		char device[64];
		unsigned number;
		int fd; /* descriptor of the counter */
		uint64_t cnps;
		uint64_t cnps_at; /* when the counter last grew, ns; 0: never; atomic */
	} ports[HP3D_PORT_NEWS_MAX];
	uint32_t n;
	uint64_t read_at;
	uint64_t newest; /* latest of all cnps_at; atomic */
};

/* `sysfs`: where class/infiniband is. Ports without such a counter are left out. */
void hp3d_port_news_open(struct hp3d_port_news *n, const char *sysfs);
void hp3d_port_news_close(struct hp3d_port_news *n);
/* Main thread only. Reads the counters ten times per second at most; other calls do nothing. */
void hp3d_port_news_read(struct hp3d_port_news *n, uint64_t now);
/* Did this port handle CNPs a short while ago? *known caches the port's index; it is
 * HP3D_PORT_UNKNOWN at first. */
bool hp3d_port_news_cnps(const struct hp3d_port_news *n, const char *device, unsigned port,
	uint8_t *known, uint64_t now);
