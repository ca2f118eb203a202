/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of the backend, as createBackend() of NIXL passes them. */
#include <cstdarg>
#include <cstdio>
#include "xfer/nixl/engine.h"

namespace hp3x_nixl
{

nixl_status_t fail_with(nixl_status_t status, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "libplugin_HP3: %s\n", line);
	return status;
}

const nixl_b_params_t &options_default()
{
	static const nixl_b_params_t params = {{"provider", ""}, {"rails", ""}, {"listen", ""},
		{"paths_per_rail", ""}, {"peer_timeout_ms", ""}};

	return params;
}

/* A number from 1 to `most`. "" leaves the default. */
static bool number_read(
	const std::string &key, const std::string &text, uint32_t most, uint32_t *value)
{
	uint64_t n = 0;
	bool right = text.size() <= 9;

	for (char c : text) {
		right = right && c >= '0' && c <= '9';
		if (right)
			n = n * 10 + (uint64_t)(c - '0');
	}
	if (text.empty())
		return true;
	if (!right || n == 0 || n > most) {
		fail_with(NIXL_ERR_INVALID_PARAM, "%s = %.64s: write a number from 1 to %u",
			key.c_str(), text.c_str(), most);
		return false;
	}
	*value = (uint32_t)n;
	return true;
}

static std::vector<std::string> list_split(const std::string &text)
{
	std::vector<std::string> names;
	size_t at = 0;

	while (at < text.size()) {
		size_t comma = text.find(',', at);
		size_t end = comma == std::string::npos ? text.size() : comma;

		if (end > at)
			names.push_back(text.substr(at, end - at));
		at = end + 1;
	}
	return names;
}

static bool keys_check(const nixl_b_params_t &params)
{
	for (const auto &[key, value] : params)
		if (options_default().count(key) == 0) {
			fail_with(NIXL_ERR_INVALID_PARAM,
				"no parameter %.64s: there are provider, rails, listen, "
				"paths_per_rail, peer_timeout_ms",
				key.c_str());
			return false;
		}
	return true;
}

static std::string value_of(const nixl_b_params_t &params, const char *key)
{
	auto found = params.find(key);

	return found == params.end() ? std::string() : found->second;
}

bool domain_open(const nixl_b_params_t &params, hp3x_domain **domain)
{
	const std::string provider = value_of(params, "provider"),
			  listen = value_of(params, "listen");
	const std::vector<std::string> names = list_split(value_of(params, "rails"));
	std::vector<const char *> rails;
	hp3x_options o = {};

	if (!keys_check(params) ||
		!number_read("paths_per_rail", value_of(params, "paths_per_rail"), 8,
			&o.paths_per_rail) ||
		!number_read("peer_timeout_ms", value_of(params, "peer_timeout_ms"), 600000,
			&o.peer_timeout_ms))
		return false;
	for (const std::string &name : names)
		rails.push_back(name.c_str());
	o.provider = provider.empty() ? nullptr : provider.c_str();
	o.rails = rails.empty() ? nullptr : rails.data();
	o.n_rails = (uint32_t)rails.size();
	o.listen = listen.empty() ? nullptr : listen.c_str();
	if (hp3x_open(&o, domain) == 0)
		return true;
	*domain = nullptr;
	fail_with(NIXL_ERR_BACKEND, "no domain: %s", hp3x_error());
	return false;
}

} // namespace hp3x_nixl
