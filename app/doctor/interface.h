/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_DOCTOR_INTERFACE_H
#define HP3_DOCTOR_INTERFACE_H
/* Requests to the kernel about interfaces; host.h has the results. */
#include <libmnl/libmnl.h>
#include "app/doctor/host.h"

struct hp3_link_info {
	struct hp3_interface itf;
	unsigned peer; /* interface index of a veth's other end, in its own namespace */
	int peer_nsid; /* id of that namespace in ours; -1: ours */
};

/* 0, or a negative errno. */
int hp3_netlink(struct nlmsghdr *request, mnl_cb_t take, void *arg);
/* By name; if `name` is NULL, by index. */
int hp3_link_by(const char *name, unsigned index, struct hp3_link_info *l);
void hp3_link_offloads(struct hp3_interface *itf);
bool hp3_interface_look(const char *name, struct hp3_interface *out);
/* Looks for the other end of a veth in the namespaces of this host that can be entered. */
void hp3_peer_look(struct hp3_link_info *l);

#endif
