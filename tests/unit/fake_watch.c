/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces hp3-watch: sends to hp3d the text of --library=. */
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include "app/watch/message.h"

static void say(const struct hp3_watch_message *m, size_t size)
{
	if (send(3, m, size, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static struct hp3_watch_message message(uint32_t kind)
{
	return (struct hp3_watch_message){.magic = HP3_WATCH_MAGIC, .kind = kind};
}

static void by(uint32_t who)
{
	struct hp3_watch_message m = message(HP3_WATCH_MSG_BY);

	m.by = who;
	say(&m, sizeof(m));
}

static void event(uint32_t lqpn, uint32_t vlan, const char *device)
{
	struct hp3_watch_message m = message(HP3_WATCH_MSG_EVENT);

	m.event.qp = (struct hp3_qp_event){
		.kind = HP3_QP_UP, .lqpn = lqpn, .rqpn = 2, .psn = 3, .vlan = vlan};
	strcpy(m.event.device, device);
	say(&m, sizeof(m));
}

static void notices(unsigned n)
{
	struct hp3_watch_message m = message(HP3_WATCH_MSG_NOTICE);

	strcpy(m.text, "\x1b[2Jhello");
	while (n-- > 0)
		say(&m, sizeof(m));
}

/* Each of these is wrong in one thing. */
static void noise(void)
{
	struct hp3_watch_message m = message(HP3_WATCH_MSG_BY);
	char large[sizeof(m) + 1] = "";

	m.by = HP3_BY_KERNEL;
	say(&m, sizeof(m) - 1);
	memcpy(large, &m, sizeof(m));
	say((const void *)large, sizeof(large));
	m.magic++;
	say(&m, sizeof(m));
	by(HP3_BY_NONE);
	by(HP3_BY_LIBRARY + 1);
	m = message(HP3_WATCH_MSG_ENDED + 1);
	say(&m, sizeof(m));
	m = message(HP3_WATCH_MSG_ENDED);
	m.ended.how = HP3_ENDED_HUNG + 1;
	say(&m, sizeof(m));
	m = message(HP3_WATCH_MSG_NOTICE);
	memset(m.text, 'x', sizeof(m.text));
	say(&m, sizeof(m));
	event(1u << 24, 0, "rxe0");
	event(1, HP3_VLAN_MAX + 1, "rxe0");
}

/* To be gone, and another one by now. */
static void claims(void)
{
	struct hp3_watch_message m = message(HP3_WATCH_MSG_ENDED);

	m.ended.times = 1;
	say(&m, sizeof(m));
	by(HP3_BY_KERNEL);
	event(7, 0, "rxe0");
}

int main(int argc, char **argv)
{
	const char *what = argc > 6 ? argv[6] : "";

	if (strcmp(what, "nobody") == 0)
		return 1;
	if (strcmp(what, "noise") == 0)
		noise();
	if (strcmp(what, "claims") == 0)
		by(HP3_BY_KERNEL);
	by(HP3_BY_LIBRARY);
	if (strcmp(what, "claims") == 0)
		claims();
	if (strcmp(what, "noise") == 0)
		event(7, HP3_VLAN_MAX, "\x1b[2J");
	if (strcmp(what, "notices") == 0)
		notices(1000);
	for (unsigned i = 0; strcmp(what, "events") == 0; i++)
		event(i & 0xffffff, 0, "rxe0");
	while (strcmp(what, "goes") != 0)
		pause();
	return 0;
}
