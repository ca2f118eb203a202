/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/control/clients.h"
#include <sys/socket.h>
#include <unistd.h>

void hp3d_clients_end(struct hp3d_clients *a, unsigned i)
{
	hp3d_client_close(&a->c[i]);
	a->c[i] = a->c[--a->n];
}

static void admit_client(struct hp3d_clients *a, struct hp3d_client *comes, uint64_t now_ms)
{
	int who = hp3d_places_for(a->c, a->n, HP3D_CLIENTS_MAX, comes, now_ms);

	if (who < 0) {
		hp3d_client_close(comes);
		return;
	}
	if ((unsigned)who < a->n)
		hp3d_clients_end(a, (unsigned)who);
	a->c[a->n++] = *comes;
}

bool hp3d_clients_open(const struct hp3d_clients *a, uint64_t now_ms)
{
	return hp3d_places_open(a->c, a->n, HP3D_CLIENTS_MAX, now_ms);
}

void hp3d_clients_accept(struct hp3d_clients *a, int listener, uint64_t now_ms)
{
	for (unsigned i = 0; i < HP3D_CLIENTS_MAX && hp3d_clients_open(a, now_ms); i++) {
		struct hp3d_client comes;
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		if (hp3d_client_open(&comes, fd, now_ms) == 0)
			admit_client(a, &comes, now_ms);
		else
			close(fd);
	}
}

void hp3d_clients_close(struct hp3d_clients *a)
{
	while (a->n > 0)
		hp3d_clients_end(a, a->n - 1);
}
