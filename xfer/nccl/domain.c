/* SPDX-License-Identifier: BSD-3-Clause */
/* The domain of the process, its peers, and messages between plugins. */
#include <string.h>
#include "xfer/nccl/plugin.h"

#define MAGIC 0x334e7068u

static void log_nowhere(
	int level, unsigned long flags, const char *file, int line, const char *format, ...)
{
}

struct net_plugin net_plugin = {.lock = PTHREAD_MUTEX_INITIALIZER, .log = log_nowhere};

int net_open(net_log_fn *log)
{
	int rc = 0;

	pthread_mutex_lock(&net_plugin.lock);
	if (log != NULL)
		net_plugin.log = log;
	if (net_plugin.domain == NULL)
		rc = hp3x_open(NULL, &net_plugin.domain);
	if (rc < 0)
		NET_WARN("no domain: %s", hp3x_error());
	else
		net_plugin.users++;
	pthread_mutex_unlock(&net_plugin.lock);
	return rc < 0 ? NET_SYSTEM_ERROR : NET_SUCCESS;
}

void net_close(void)
{
	pthread_mutex_lock(&net_plugin.lock);
	if (net_plugin.users > 0 && --net_plugin.users == 0) {
		hp3x_close(net_plugin.domain);
		net_plugin.domain = NULL;
		memset(net_plugin.known, 0, sizeof(net_plugin.known));
		memset(net_plugin.send, 0, sizeof(net_plugin.send));
		memset(net_plugin.receive, 0, sizeof(net_plugin.receive));
		memset(net_plugin.lost, 0, sizeof(net_plugin.lost));
	}
	pthread_mutex_unlock(&net_plugin.lock);
}

struct hp3x_peer *net_peer_at(const char *address)
{
	uint32_t i = 0;

	while (i < NET_COMMS && net_plugin.known[i].peer != NULL) {
		struct hp3x_peer *peer = net_plugin.known[i].peer;

		if (strcmp(net_plugin.known[i].address, address) == 0 &&
			hp3x_peer_state(peer) != HP3X_PEER_GONE)
			return peer;
		i++;
	}
	if (i == NET_COMMS || strlen(address) >= sizeof(net_plugin.known[i].address)) {
		NET_WARN("too many peers: at most %u", NET_COMMS);
		return NULL;
	}
	if (hp3x_connect(net_plugin.domain, address, &net_plugin.known[i].peer) < 0) {
		NET_WARN("%s: %s", address, hp3x_error());
		net_plugin.known[i].peer = NULL;
		return NULL;
	}
	strcpy(net_plugin.known[i].address, address);
	return net_plugin.known[i].peer;
}

/* Nobody waits for the end of a message: if it is lost, so is the peer. */
static void drop_completion(const struct hp3x_completion *completion)
{
}

bool net_tell(const struct net_comm *comm, struct net_message *message)
{
	const struct hp3x_common common = {.done = drop_completion};
	size_t length = offsetof(struct net_message, region) + message->region_length;

	message->magic = MAGIC;
	message->from = comm->index;
	message->to = comm->other;
	return hp3x_send(comm->peer, message, length, &common) > 0;
}

void net_pump(void)
{
	const size_t least = offsetof(struct net_message, region);
	struct hp3x_peer *peer;

	while (hp3x_accept(net_plugin.domain, &peer) > 0)
		; /* messages name it */
	for (;;) {
		struct net_message m = {0};
		int length = hp3x_receive(
			net_plugin.domain, net_plugin.buffer, sizeof(net_plugin.buffer), &peer);

		if (length < 0)
			return;
		memcpy(&m, net_plugin.buffer,
			(size_t)length < sizeof(m) ? (size_t)length : sizeof(m));
		if ((size_t)length < least || (size_t)length > sizeof(m) || m.magic != MAGIC ||
			m.region_length > (size_t)length - least)
			NET_WARN("a message of %d bytes is not of this plugin", length);
		else
			net_comm_message(peer, &m);
	}
}
