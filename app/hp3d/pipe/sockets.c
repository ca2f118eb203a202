/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/sockets.h"
#include <stdio.h>
#include <numa.h>
#include <rte_memory.h>

int hp3d_socket_choose(int lcore, const int *ports, unsigned n)
{
	int socket = SOCKET_ID_ANY;

	if (lcore != SOCKET_ID_ANY)
		return lcore;
	for (unsigned i = 0; i < n; i++) {
		if (ports[i] == SOCKET_ID_ANY || ports[i] == socket)
			continue;
		if (socket != SOCKET_ID_ANY)
			return SOCKET_ID_ANY;
		socket = ports[i];
	}
	return socket;
}

bool hp3d_socket_advice(
	char *buf, size_t cap, unsigned lcore, int lcore_socket, int port_socket, unsigned sockets)
{
	if (sockets < 2 || port_socket == SOCKET_ID_ANY || lcore_socket == port_socket)
		return false;
	if (lcore_socket == SOCKET_ID_ANY)
		snprintf(buf, cap,
			"lcore %u may run on several sockets, the port is on socket %d: set [eal] "
			"cpus to CPUs of socket %d (lscpu lists them)",
			lcore, port_socket, port_socket);
	else
		snprintf(buf, cap,
			"lcore %u runs on socket %d, the port is on socket %d: every packet "
			"crosses between them; set [eal] cpus to CPUs of socket %d (lscpu lists "
			"them)",
			lcore, lcore_socket, port_socket, port_socket);
	return true;
}

void hp3d_socket_bind(void *mem, size_t size, int socket)
{
	if (socket == SOCKET_ID_ANY || numa_available() < 0 || numa_max_node() == 0 ||
		socket > numa_max_node())
		return;
	numa_tonode_memory(mem, size, socket);
}
