/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A TCP address in a configuration key, such as 127.0.0.1:9795 or [::1]:9795. Host names are not
 * allowed.
 */
#include <stdbool.h>
#include <sys/socket.h>

struct hp3_address {
	struct sockaddr_storage addr;
	socklen_t len;
	unsigned port; /* the port of addr, in host byte order */
	bool loopback; /* a loopback address: only this host can connect */
};

bool hp3_address_parse(const char *text, struct hp3_address *a);
bool hp3_address_is_valid(const char *text);
