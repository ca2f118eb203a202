/* SPDX-License-Identifier: BSD-3-Clause */
/* move: moves a flow to another EV, at once or if probes find its path no worse. */
#include <errno.h>
#include <syslog.h>
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/find.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/record/record.h"
#include "ppp/ports.h"

/* The command and the engine's answer. */
struct order {
	struct hp3_cmd cmd;
	bool ask; /* probe first */
	int rc;
};

/* `f`: the flow, as it was before the command. */
static json_t *refuse_move(int rc, const struct hp3d_found *f, enum hp3_cause cause)
{
	static const struct {
		int err;
		const char *code, *text;
	} reasons[] = {
		{ENOLINK, "not-paired", "is not paired"},
		{EALREADY, "already-there", "is on that port already"},
		{EBUSY, "busy", "has a move under way"},
		{EAGAIN, "rnr-pending", "waits for a receiver that is not ready"},
		{ENOSPC, "no-slots", "cannot move: all move slots are taken"},
		{EPERM, "not-permitted", "may not be moved"},
		{EACCES, "barred", "is barred by [filter]"},
		{ENODATA, "no-data", "has sent nothing yet"},
		{EOPNOTSUPP, "no-probes", "cannot be probed: its peer answers no probes"},
		{EHOSTUNREACH, "failed-path", "keeps its path: the path of that port has failed"},
		{EDQUOT, "too-soon", "moved just now, or too many searches are in progress"},
	};
	enum hp3_unpaired_reason unpaired = (enum hp3_unpaired_reason)f->info.unpaired;
	const char *code = "refused", *text = "cannot be moved";

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].err == -rc) {
			code = reasons[i].code;
			text = reasons[i].text;
		}
	}
	hp3_record(LOG_NOTICE, "refusal",
		json_pack("{s:s, s:s, s:s, s:s}", "flow", f->id, "cause", hp3_cause_name(cause),
			"code", code, "text", text),
		"%s: move refused: it %s", f->id, text);
	if (rc == -ENOLINK && !f->info.paired)
		return hp3d_json_error(code, hp3_unpaired_help(unpaired), "%s %s (%s): %s", f->id,
			text, hp3_unpaired_name(unpaired), hp3_unpaired_text(unpaired));
	return hp3d_json_error(code, hp3_command_error(rc), "%s %s", f->id, text);
}

/* Reads the target: exactly one of "port", "random", "home". NULL: success. */
static json_t *read_target(json_t *req, struct hp3_cmd *cmd, bool ask)
{
	bool random = json_is_true(json_object_get(req, "random"));
	bool home = json_is_true(json_object_get(req, "home"));
	bool given = json_object_get(req, "port") != NULL;
	uint64_t port = 0;
	json_t *error;

	if (!hp3d_json_number(req, "port", HP3_PORT_FIRST, UINT16_MAX, &port, &error))
		return error;
	if (ask && !given)
		return hp3d_json_error("bad-request", "give \"port\":N with \"ask\":true",
			"there is no port to probe");
	if (given + random + home != 1)
		return hp3d_json_error("bad-request",
			"give one of \"port\":N, \"random\":true, \"home\":true",
			"the target is %s", given || random || home ? "given twice" : "missing");
	cmd->kind = home ? HP3_CMD_HOME : HP3_CMD_MOVE;
	cmd->port = (uint16_t)port;
	return NULL;
}

static void give_order(struct hp3d_pipe *p, uint32_t flow, uint64_t now, void *arg)
{
	struct order *o = arg;

	o->cmd.flow = flow;
	o->rc = o->ask ? hp3d_pipe_advise(p, &o->cmd, now) : hp3d_pipe_command(p, &o->cmd, now);
}

json_t *hp3d_json_move(const struct hp3_config *cfg, json_t *req)
{
	static uint64_t tag;
	struct order o = {.cmd = {.cause = HP3_CAUSE_OPERATOR, .tag = ++tag},
		.ask = json_is_true(json_object_get(req, "ask"))};
	uint64_t since = hp3d_events_last();
	json_t *error = read_target(req, &o.cmd, o.ask);
	struct hp3d_found f;

	if (!error)
		error = hp3d_find(
			cfg, json_string_value(json_object_get(req, "flow")), give_order, &o, &f);
	if (error)
		return error;
	if (o.rc < 0)
		return refuse_move(o.rc, &f, o.ask ? HP3_CAUSE_ADVICE : HP3_CAUSE_OPERATOR);
	return hp3d_json_ok(json_pack("{s:s, s:I, s:I, s:i}", "flow", f.id, "tag",
		(json_int_t)o.cmd.tag, "since", (json_int_t)since, "from", f.info.port));
}
