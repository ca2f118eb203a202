/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications are messages of libhp3x:
 *
 *     "HP3N"   length of the agent's name (2 bytes, little-endian)   name   notification
 *
 * The version is that of the connection information: without it, no agent can send.
 */
#include <cstring>
#include "xfer/nixl/engine.h"

#define HEAD 6u

namespace hp3x_nixl
{

static const char magic[] = {'H', 'P', '3', 'N'};

bool engine::notification_frame(const std::string &message, std::string &frame) const
{
	if (HEAD + localAgent.size() + message.size() > HP3X_MOST_SEND) {
		fail_with(NIXL_ERR_INVALID_PARAM,
			"a notification of %zu bytes: at most %zu with this agent's name",
			message.size(), (size_t)HP3X_MOST_SEND - HEAD - localAgent.size());
		return false;
	}
	frame.assign(magic, sizeof(magic));
	frame += (char)(localAgent.size() & 0xff);
	frame += (char)(localAgent.size() >> 8);
	frame += localAgent;
	frame += message;
	return true;
}

void engine::notification_take(const char *data, size_t length, notif_list_t &list) const
{
	size_t name = length < HEAD ? 0 : (uint8_t)data[4] | (size_t)(uint8_t)data[5] << 8;

	if (length < HEAD || memcmp(data, magic, sizeof(magic)) != 0 || name > length - HEAD) {
		fail_with(NIXL_ERR_MISMATCH,
			"a message of %zu bytes is no notification: all agents need the same "
			"version of libplugin_HP3.so",
			length);
		return;
	}
	list.emplace_back(std::string(data + HEAD, name),
		std::string(data + HEAD + name, length - HEAD - name));
}

int64_t engine::notification_submit(transfer &t) const
{
	const hp3x_common common = {0, &t, notification_done};

	return hp3x_send(t.to->peer, t.notification.data(), t.notification.size(), &common);
}

/* Nobody waits for the end of this message: if it is lost, so is the peer. */
static void drop_completion(const hp3x_completion *completion)
{
	(void)completion;
}

nixl_status_t engine::genNotif(const std::string &agent, const std::string &message) const
{
	const hp3x_common common = {0, nullptr, drop_completion};
	guard held(lock);
	auto to = link_find(agent);
	std::string frame;

	if (to == nullptr)
		return fail_with(NIXL_ERR_NOT_FOUND,
			"agent %.64s is unknown: load its metadata first", agent.c_str());
	if (!notification_frame(message, frame))
		return NIXL_ERR_INVALID_PARAM;
	nixl_status_t status = link_open(*to);
	if (status != NIXL_SUCCESS)
		return status;
	if (hp3x_send(to->peer, frame.data(), frame.size(), &common) > 0)
		return NIXL_SUCCESS;
	return fail_with(
		NIXL_ERR_BACKEND, "notification for agent %.64s: %s", agent.c_str(), hp3x_error());
}

/* Peers that were gone before the last message was taken have no more messages. */
nixl_status_t engine::getNotifs(notif_list_t &list)
{
	guard held(lock);
	std::vector<hp3x_peer *> here;
	std::vector<hp3x_peer *> gone;
	hp3x_peer *peer;
	int length;

	if (!list.empty())
		return fail_with(NIXL_ERR_INVALID_PARAM,
			"the list for notifications is not empty: pass an empty one");
	while (hp3x_accept(domain, &peer) > 0)
		accepted.push_back(peer);
	for (hp3x_peer *p : accepted)
		(hp3x_peer_state(p) == HP3X_PEER_GONE ? gone : here).push_back(p);
	while ((length = hp3x_receive(domain, buffer.data(), buffer.size(), &peer)) >= 0)
		notification_take(buffer.data(), (size_t)length, list);
	for (hp3x_peer *p : gone)
		hp3x_peer_close(p);
	accepted = here;
	return NIXL_SUCCESS;
}

} // namespace hp3x_nixl
