/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SOCKETS_H
#define HP3D_SOCKETS_H
/*
 * Sockets (NUMA nodes) of lcores, ports and memory. Tables, hold queues and rings of a worker lie
 * beside the CPUs that it runs on, packet buffers beside the ports of their rail; where that is not
 * one socket, beside what is. Numbers are the kernel's; SOCKET_ID_ANY: several, or unknown.
 */
#include <stdbool.h>
#include <stddef.h>

/* Where memory for an lcore on `lcore` that serves ports on `ports` is to lie. */
int hp3d_socket_choose(int lcore, const int *ports, unsigned n);

/*
 * Is there something to be said of an lcore that serves a port, on a machine of so many sockets?
 * True: buf has it, with what to do.
 */
bool hp3d_socket_advice(
	char *buf, size_t cap, unsigned lcore, int lcore_socket, int port_socket, unsigned sockets);

/* Before it is written for the first time, memory is put on a socket. Where that cannot be done it
 * stays where the kernel puts it. */
void hp3d_socket_bind(void *mem, size_t size, int socket);

#endif
