/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Control addresses as text: "10.0.0.2:18515" or "[fd00::2]:18515". */
#include <sys/socket.h>

/* -EINVAL after hp3x_error_set(): no numeric address with a port. */
int hp3x_address_read(const char *text, struct sockaddr_storage *address);
socklen_t hp3x_address_length(const struct sockaddr_storage *address);
