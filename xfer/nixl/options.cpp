/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of createBackend(), the domain of an engine, and messages. */
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "xfer/nixl/engine.h"

namespace hp3
{

nixl_status_t refuse(nixl_status_t status, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "NIXL/HP3: %s\n", line);
	return status;
}

nixl_status_t status_of_error(int64_t error)
{
	switch (error) {
	case -ENOTCONN:
		return NIXL_ERR_REMOTE_DISCONNECT;
	case -ESTALE:
	case -EBADMSG:
		return NIXL_ERR_MISMATCH;
	case -EINVAL:
	case -EMSGSIZE:
		return NIXL_ERR_INVALID_PARAM;
	case -EBUSY:
		return NIXL_ERR_NOT_ALLOWED;
	default:
		return NIXL_ERR_BACKEND;
	}
}

nixl_status_t status_of_op(hp3x_status status)
{
	switch (status) {
	case HP3X_OK:
		return NIXL_SUCCESS;
	case HP3X_PEER_LOST:
	case HP3X_CLOSED:
		return NIXL_ERR_REMOTE_DISCONNECT;
	case HP3X_CANCELLED:
		return NIXL_ERR_CANCELED;
	case HP3X_REFUSED: /* the other agent has deregistered the memory */
		return NIXL_ERR_NOT_FOUND;
	case HP3X_TIMED_OUT:
		break;
	}
	return NIXL_ERR_BACKEND;
}

/* Empty: the default of libhp3x. */
nixl_b_params_t options_list()
{
	return {{"provider", ""}, {"rails", ""}, {"listen", ""}, {"paths_per_rail", ""},
		{"slice_bytes", ""}, {"hang_ms", ""}, {"peer_timeout_ms", ""}};
}

static std::vector<std::string> words_split(const std::string &text)
{
	std::vector<std::string> words;
	size_t at = 0;

	while (at < text.size()) {
		size_t end = text.find(',', at);

		if (end == std::string::npos)
			end = text.size();
		if (end > at)
			words.push_back(text.substr(at, end - at));
		at = end + 1;
	}
	return words;
}

static bool number_read(const std::string &key, const std::string &text, uint32_t *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text.c_str(), &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value > UINT32_MAX) {
		refuse(NIXL_ERR_INVALID_PARAM, "%s is \"%s\": pass a number", key.c_str(),
			text.c_str());
		return false;
	}
	*number = static_cast<uint32_t>(value);
	return true;
}

static bool option_read(const std::string &key, const std::string &value, hp3x_options *o)
{
	if (key == "provider")
		o->provider = value.c_str();
	else if (key == "listen")
		o->listen = value.c_str();
	else if (key == "paths_per_rail")
		return number_read(key, value, &o->paths_per_rail);
	else if (key == "slice_bytes")
		return number_read(key, value, &o->slice_bytes);
	else if (key == "hang_ms")
		return number_read(key, value, &o->hang_ms);
	else if (key == "peer_timeout_ms")
		return number_read(key, value, &o->peer_timeout_ms);
	return true;
}

hp3x_domain *domain_open(const nixl_b_params_t &params)
{
	const nixl_b_params_t known = options_list();
	std::vector<std::string> rails;
	std::vector<const char *> names;
	hp3x_options o = {};
	hp3x_domain *domain;

	for (const auto &[key, value] : params) {
		if (known.count(key) == 0) {
			refuse(NIXL_ERR_INVALID_PARAM,
				"there is no option \"%s\": use provider, rails, listen, "
				"paths_per_rail, slice_bytes, hang_ms or peer_timeout_ms",
				key.c_str());
			return nullptr;
		}
		if (key == "rails")
			rails = words_split(value);
		else if (!value.empty() && !option_read(key, value, &o))
			return nullptr;
	}
	for (const std::string &rail : rails)
		names.push_back(rail.c_str());
	o.rails = names.empty() ? nullptr : names.data();
	o.n_rails = static_cast<uint32_t>(names.size());
	if (hp3x_open(&o, &domain) < 0) {
		refuse(NIXL_ERR_BACKEND, "no domain: %s", hp3x_error());
		return nullptr;
	}
	return domain;
}

} // namespace hp3
