/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines: connections to other agents, and notifications. */
#include <cerrno>
#include <cstring>
#include <iterator>
#include <vector>
#include "xfer/nixl/engine.h"

#define INFO_MAGIC  "hp3x-nixl-1 " /* an address follows */
#define NOTIF_MAGIC "hp3x-nn1" /* 2 bytes: length of the agent's name; the name; the text */
#define LENGTH_AT   (sizeof(NOTIF_MAGIC) - 1)
#define NAME_AT     (LENGTH_AT + 2)

static_assert(NAME_AT + NOTIF_MOST == HP3X_MOST_SEND, "the longest notification fits");

namespace hp3
{

Engine::Engine(const nixlBackendInitParams *params) : nixlBackendEngine(params)
{
	domain = domain_open(*params->customParams);
	initErr = domain == nullptr;
}

nixl_status_t refuse_op(const Link &link, const char *what, int64_t error)
{
	return refuse(status_of_error(error), "%s agent %s: %s", what, link.agent.c_str(),
		error == -ENOTCONN
			? "the agent is not connected: load its metadata again, if it runs"
			: hp3x_error());
}

static hp3x_peer *peer_take(Link &link)
{
	std::lock_guard<std::mutex> guard(link.lock);
	hp3x_peer *peer = link.peer;

	link.peer = nullptr;
	return peer;
}

/* Ends all transfers with the agent. */
static void link_close(Link &link)
{
	hp3x_peer *peer = peer_take(link);

	if (peer != nullptr)
		hp3x_peer_close(peer);
}

Engine::~Engine()
{
	if (domain == nullptr)
		return;
	for (auto &entry : links)
		link_close(*entry.second);
	hp3x_close(domain);
}

nixl_status_t Engine::getConnInfo(std::string &text) const
{
	if (domain == nullptr)
		return NIXL_ERR_BACKEND;
	text = std::string(INFO_MAGIC) + hp3x_address(domain);
	return NIXL_SUCCESS;
}

std::shared_ptr<Link> Engine::link_find(const std::string &agent) const
{
	std::lock_guard<std::mutex> guard(lock);
	auto at = links.find(agent);

	return at == links.end() ? nullptr : at->second;
}

/* Connects, unless there is a connection that works. */
nixl_status_t Engine::link_open(Link &link)
{
	hp3x_peer *peer = nullptr, *gone = nullptr;
	int error = 0;

	{
		std::lock_guard<std::mutex> guard(link.lock);

		if (link.peer != nullptr && hp3x_peer_state(link.peer) != HP3X_PEER_GONE)
			return NIXL_SUCCESS;
		gone = link.peer;
		error = hp3x_connect(domain, link.address.c_str(), &peer);
		link.peer = error < 0 ? nullptr : peer;
	}
	if (error < 0)
		refuse(NIXL_ERR_BACKEND, "no connection to agent %s: %s", link.agent.c_str(),
			hp3x_error());
	if (gone != nullptr)
		hp3x_peer_close(gone);
	return error < 0 ? status_of_error(error) : NIXL_SUCCESS;
}

nixl_status_t Engine::loadRemoteConnInfo(const std::string &agent, const std::string &info)
{
	const size_t magic = strlen(INFO_MAGIC);
	std::shared_ptr<Link> link = link_find(agent);
	nixl_status_t status;

	if (agent == localAgent)
		return refuse(NIXL_ERR_NOT_SUPPORTED,
			"agent %s is this agent: transfers inside one agent need another backend",
			agent.c_str());
	if (info.compare(0, magic, INFO_MAGIC) != 0 || info.size() > magic + 128 ||
		info.find('\0') != std::string::npos)
		return refuse(NIXL_ERR_MISMATCH,
			"connection information of agent %s is damaged, or of another version of "
			"this plugin: load it again",
			agent.c_str());
	if (link != nullptr && link->address == info.substr(magic))
		return link_open(*link);
	if (link != nullptr)
		link_close(*link); /* the agent was started again */
	link = std::make_shared<Link>();
	link->agent = agent;
	link->address = info.substr(magic);
	status = link_open(*link);
	std::lock_guard<std::mutex> guard(lock);
	if (status == NIXL_SUCCESS)
		links[agent] = link;
	else
		links.erase(agent);
	return status;
}

nixl_status_t Engine::connect(const std::string &agent)
{
	std::shared_ptr<Link> link = link_find(agent);

	if (link == nullptr)
		return refuse(NIXL_ERR_NOT_FOUND,
			"agent %s is not known: load its connection information first",
			agent.c_str());
	return link_open(*link);
}

nixl_status_t Engine::disconnect(const std::string &agent)
{
	std::shared_ptr<Link> link = link_find(agent);

	if (link == nullptr)
		return refuse(NIXL_ERR_NOT_FOUND, "agent %s is not connected", agent.c_str());
	link_close(*link);
	std::lock_guard<std::mutex> guard(lock);
	links.erase(agent);
	return NIXL_SUCCESS;
}

std::string Engine::notif_pack(const std::string &text) const
{
	std::string message = NOTIF_MAGIC;
	size_t n = localAgent.size();

	if (n > UINT16_MAX || n + text.size() > NOTIF_MOST)
		return "";
	message += static_cast<char>(n & 255);
	message += static_cast<char>(n >> 8);
	return message + localAgent + text;
}

/* False: no message of this plugin. */
static bool notif_unpack(const std::string &message, std::string *agent, std::string *text)
{
	size_t n;

	if (message.size() < NAME_AT || message.compare(0, LENGTH_AT, NOTIF_MAGIC) != 0)
		return false;
	n = static_cast<uint8_t>(message[LENGTH_AT]) |
	    static_cast<size_t>(static_cast<uint8_t>(message[LENGTH_AT + 1])) << 8;
	if (n > message.size() - NAME_AT)
		return false;
	*agent = message.substr(NAME_AT, n);
	*text = message.substr(NAME_AT + n);
	return true;
}

/* If a notification is lost, so is the peer: transfers with it report that. */
static void drop_completion(const hp3x_completion *)
{
}

nixl_status_t Engine::genNotif(const std::string &agent, const std::string &text) const
{
	std::shared_ptr<Link> link = link_find(agent);
	const std::string message = notif_pack(text);
	hp3x_common common = {};
	int64_t op;

	if (link == nullptr)
		return refuse(NIXL_ERR_NOT_FOUND,
			"agent %s is not known: load its connection information first",
			agent.c_str());
	if (message.empty())
		return refuse(NIXL_ERR_INVALID_PARAM,
			"a notification of %zu bytes: with the name of the agent, %u bytes at most",
			text.size(), NOTIF_MOST);
	common.done = drop_completion;
	std::lock_guard<std::mutex> guard(link->lock);
	if (link->peer == nullptr)
		return refuse_op(*link, "notification to", -ENOTCONN);
	op = hp3x_send(link->peer, message.data(), message.size(), &common);
	return op < 0 ? refuse_op(*link, "notification to", op) : NIXL_SUCCESS;
}

nixl_status_t Engine::getNotifs(notif_list_t &list)
{
	std::lock_guard<std::mutex> guard(lock);
	std::vector<char> buffer(HP3X_MOST_SEND);
	std::list<hp3x_peer *> gone;
	hp3x_peer *peer;
	int n;

	while (hp3x_accept(domain, &peer) > 0)
		guests.push_back(peer);
	/* A peer that is gone now has no more messages after this loop. */
	for (auto at = guests.begin(); at != guests.end();) {
		auto next = std::next(at);

		if (hp3x_peer_state(*at) == HP3X_PEER_GONE)
			gone.splice(gone.end(), guests, at);
		at = next;
	}
	while ((n = hp3x_receive(domain, buffer.data(), buffer.size(), &peer)) >= 0) {
		std::string agent, text;

		if (notif_unpack(std::string(buffer.data(), static_cast<size_t>(n)), &agent, &text))
			list.emplace_back(agent, text);
		else
			refuse(NIXL_ERR_MISMATCH,
				"a message of %d bytes is not of this plugin: use the same version "
				"of it on all hosts",
				n);
	}
	for (hp3x_peer *each : gone)
		hp3x_peer_close(each);
	return NIXL_SUCCESS;
}

} // namespace hp3
