/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_ADDRESS_H
#define HP3_CONFIG_ADDRESS_H
/* A TCP address as keys have it: 127.0.0.1:9795 or [::1]:9795; numbers, no names. */
#include <stdbool.h>
#include <sys/socket.h>

struct hp3_address {
	struct sockaddr_storage addr;
	socklen_t len;
	unsigned port; /* the same as in addr, in the host's order */
	bool loopback; /* only this host reaches it */
};

bool hp3_address_parse(const char *text, struct hp3_address *a);
bool hp3_address_is_valid(const char *text);

#endif
