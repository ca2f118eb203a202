/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of the backend, connection information, and links to other agents. */
#include "xfer/nixl/engine.h"

namespace hp3x_nixl
{

/* Before the control address. The number is the version of the information and of notifications. */
static const std::string prefix = "hp3x-nixl 1 ";

#define MOST_ADDRESS 80u

engine::engine(const nixlBackendInitParams *params)
    : nixlBackendEngine(params), buffer(HP3X_MOST_SEND)
{
	initErr = !domain_open(*params->customParams, &domain);
}

engine::~engine()
{
	if (domain != nullptr)
		hp3x_close(domain); /* frees regions and peers; ends all ops */
}

nixl_status_t engine::getConnInfo(std::string &text) const
{
	text = prefix + hp3x_address(domain);
	return NIXL_SUCCESS;
}

static bool is_address(const std::string &text)
{
	if (text.empty() || text.size() >= MOST_ADDRESS)
		return false;
	for (char c : text)
		if (c <= ' ' || c > '~')
			return false;
	return text.find(':') != std::string::npos;
}

nixl_status_t engine::loadRemoteConnInfo(const std::string &agent, const std::string &text)
{
	guard held(lock);
	const bool known = text.compare(0, prefix.size(), prefix) == 0;
	const std::string address = known ? text.substr(prefix.size()) : "";

	if (!is_address(address))
		return fail_with(NIXL_ERR_MISMATCH,
			"the connection information of agent %.64s is damaged, or of another "
			"version: both agents need the same version of libplugin_HP3.so",
			agent.c_str());
	auto found = link_find(agent);
	if (found != nullptr && found->address != address)
		return fail_with(NIXL_ERR_NOT_ALLOWED,
			"agent %.64s is known at %s, not %s: call invalidateRemoteMD() first",
			agent.c_str(), found->address.c_str(), address.c_str());
	if (found == nullptr) {
		auto to = std::make_shared<struct link>();

		to->agent = agent;
		to->address = address;
		links[agent] = to;
	}
	return NIXL_SUCCESS;
}

std::shared_ptr<struct link> engine::link_find(const std::string &agent) const
{
	auto found = links.find(agent);

	return found == links.end() ? nullptr : found->second;
}

static nixl_status_t unknown_agent(const std::string &agent)
{
	return fail_with(NIXL_ERR_NOT_FOUND, "agent %.64s is unknown: load its metadata first",
		agent.c_str());
}

/* Connects, if that was not done. A peer that is gone stays: its memory is not what it was. */
nixl_status_t engine::link_open(struct link &to) const
{
	if (to.peer == nullptr && hp3x_connect(domain, to.address.c_str(), &to.peer) < 0) {
		to.peer = nullptr;
		return fail_with(
			NIXL_ERR_INVALID_PARAM, "agent %.64s: %s", to.agent.c_str(), hp3x_error());
	}
	if (hp3x_peer_state(to.peer) != HP3X_PEER_GONE)
		return NIXL_SUCCESS;
	return fail_with(NIXL_ERR_REMOTE_DISCONNECT,
		"agent %.64s is gone: %s. Load its metadata again, and connect", to.agent.c_str(),
		hp3x_peer_reason(to.peer));
}

nixl_status_t engine::connect(const std::string &agent)
{
	guard held(lock);
	auto to = link_find(agent);

	if (to == nullptr)
		return unknown_agent(agent);
	if (to->peer != nullptr && hp3x_peer_state(to->peer) == HP3X_PEER_GONE) {
		hp3x_peer_close(to->peer);
		to->peer = nullptr;
	}
	return link_open(*to);
}

nixl_status_t engine::disconnect(const std::string &agent)
{
	guard held(lock);
	auto to = link_find(agent);

	if (to == nullptr)
		return unknown_agent(agent);
	links.erase(agent);
	if (to->peer != nullptr)
		hp3x_peer_close(to->peer); /* its ops end: transfers keep the link until then */
	to->peer = nullptr;
	return NIXL_SUCCESS;
}

} // namespace hp3x_nixl
