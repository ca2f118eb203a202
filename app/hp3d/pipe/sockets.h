/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Sockets (NUMA nodes) of lcores, ports and memory. A worker's tables, hold queues and rings are on
 * the socket of its CPUs. If these CPUs are on several sockets, hp3d uses the socket of the
 * worker's ports. Packet buffers are on the socket of their rail's ports. If these ports are also
 * on several sockets, hp3d chooses no socket for that memory. Socket numbers are those of the
 * kernel. SOCKET_ID_ANY: several sockets, or an unknown socket.
 */
#include <stdbool.h>
#include <stddef.h>

/* The socket for memory of an lcore on socket `lcore` that serves ports on sockets `ports`. */
int hp3d_socket_choose(int lcore, const int *ports, unsigned n);

/*
 * Compares the socket of an lcore with the socket of a port that it serves. The machine has
 * `sockets` sockets. True: they may differ, and buf has a message with the fix.
 */
bool hp3d_socket_advice(
	char *buf, size_t cap, unsigned lcore, int lcore_socket, int port_socket, unsigned sockets);

/* Places memory on a socket; call it before the first write. If this fails, the kernel's choice
 * stays. */
void hp3d_socket_bind(void *mem, size_t size, int socket);
