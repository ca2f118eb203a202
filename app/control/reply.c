/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include "app/control/reply.h"

json_t *hp3d_json_ok(json_t *data)
{
	return data ? json_pack("{s:i, s:b, s:o}", "v", 1, "ok", 1, "data", data) : NULL;
}

json_t *hp3d_json_error(const char *code, const char *fix, const char *fmt, ...)
{
	va_list ap;
	json_t *text;

	va_start(ap, fmt);
	text = json_vsprintf(fmt, ap);
	va_end(ap);
	return text ? json_pack("{s:i, s:b, s:{s:s, s:o, s:s}}", "v", 1, "ok", 0, "error", "code",
			      code, "text", text, "fix", fix)
		    : NULL;
}

bool hp3d_json_number(
	json_t *req, const char *key, uint64_t min, uint64_t max, uint64_t *value, json_t **error)
{
	json_t *j = json_object_get(req, key);

	if (!j)
		return true;
	if (json_is_integer(j) && json_integer_value(j) >= 0) {
		uint64_t v = (uint64_t)json_integer_value(j);
		if (v >= min && v <= max) {
			*value = v;
			return true;
		}
	}
	*error = hp3d_json_error("bad-request", "correct the request",
		"\"%s\" must be an integer from %" PRIu64 " to %" PRIu64, key, min, max);
	return false;
}
