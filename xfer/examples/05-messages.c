/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages arrive in order, exactly once: here the descriptor of a region. */
#include <errno.h>
#include "both.h"

int main(void)
{
	char text[HP3X_DESCRIPTION];
	struct hp3x_remote there;
	struct hp3x_peer *from;
	struct end a, b;
	int n;

	both_open(&a, &b);
	n = must_work(hp3x_region_describe(b.region, text, sizeof(text)));
	must_work(hp3x_send(b.peer, text, (size_t)n, NULL));
	while ((n = hp3x_receive(a.domain, text, sizeof(text), &from)) == -EAGAIN)
		;
	must_work(n);
	must_be(from == a.peer, "the message is of the other end");
	must_work(hp3x_remote_read(text, (size_t)n, &there));
	must_be(there.length == LENGTH, "the descriptor is that of the region");
	both_close(&a, &b);
	return 0;
}
