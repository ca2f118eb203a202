/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A simulated fabric with four paths; the lowest two bits of a source port choose the path. The
 * file `paths` in the directory $HP3_FAKE_FABRIC has a 32-bit number for each path: its additional
 * delay in microseconds, or FABRIC_DEAD. Tests write this file; the fake RNICs read it for each
 * packet.
 */
#define FABRIC_DEAD  UINT32_MAX
#define FABRIC_PATHS 4u

static inline const uint32_t *fabric_open(void)
{
	const char *directory = getenv("HP3_FAKE_FABRIC");
	char path[200];
	void *at;
	int fd;

	if (directory == NULL)
		return NULL;
	snprintf(path, sizeof(path), "%s/paths", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, FABRIC_PATHS * sizeof(uint32_t), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* Delay of a packet in ns; FABRIC_DEAD: it does not arrive. */
static inline uint64_t fabric_delay(const uint32_t *paths, uint16_t port)
{
	uint32_t us =
		paths == NULL ? 0 : __atomic_load_n(&paths[port % FABRIC_PATHS], __ATOMIC_RELAXED);

	return us == FABRIC_DEAD ? FABRIC_DEAD : us * UINT64_C(1000);
}
