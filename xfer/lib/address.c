/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "xfer/error.h"
#include "xfer/lib/address.h"

socklen_t hp3x_address_length(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

/* Copies the host of "HOST:PORT" or "[HOST]:PORT". Returns the port, or NULL. */
static const char *address_split(const char *text, char *host, size_t capacity)
{
	const char *colon = strrchr(text, ':');
	size_t n;

	if (colon == NULL)
		return NULL;
	n = (size_t)(colon - text);
	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	} else if (memchr(text, ':', n) != NULL) {
		return NULL;
	}
	if (n == 0 || n >= capacity)
		return NULL;
	memcpy(host, text, n);
	host[n] = '\0';
	return colon + 1;
}

int hp3x_address_read(const char *text, struct sockaddr_storage *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV},
			*found;
	char host[64];
	const char *port = text == NULL ? NULL : address_split(text, host, sizeof(host));

	if (port == NULL || port[0] == '\0' || getaddrinfo(host, port, &hints, &found) != 0)
		return hp3x_error_set(-EINVAL,
			"%s: write a control address as 10.0.0.2:18515 or [fd00::2]:18515",
			text == NULL ? "no address" : text);
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}
