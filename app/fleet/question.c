/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/commands.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "app/fleet/planner.h"
#include "app/plain_json.h"
#include "base/urls.h"

#define ANSWER_MS  2000u
#define CONNECT_MS 2000u

struct hp3_bus *fleet_line_open(const struct fleet_config *cfg)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct hp3_bus_options options = fleet_bus_options(cfg);
	char why[256] = "no memory";
	struct hp3_bus *line = hp3_bus_open(&options, why, sizeof(why));

	if (line == NULL)
		fprintf(stderr, "hp3-fleet: %s\n", why);
	/* libnats connects in the background */
	for (unsigned ms = 0; line != NULL && ms < CONNECT_MS && !hp3_bus_is_up(line); ms += 10)
		nanosleep(&pause, NULL);
	return line;
}

static void keep_answer(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	json_t **answer = arg;

	*answer = hp3_plain_json(json_loadb((const char *)data, len, 0, NULL));
}

json_t *fleet_question(struct hp3_bus *line, const struct fleet_config *cfg, json_t *question)
{
	char text[FLEET_QUESTION_MAX];
	size_t n = json_dumpb(question, text, sizeof(text), JSON_COMPACT);
	char servers[HP3_INI_VALUE_MAX];
	json_t *answer = NULL;
	int ret = -EMSGSIZE;

	json_decref(question);
	if (n > 0 && n <= sizeof(text))
		ret = hp3_bus_ask(
			line, FLEET_SUBJECT_ASK, text, n, ANSWER_MS, keep_answer, &answer);
	if (answer == NULL)
		fprintf(stderr,
			"hp3-fleet: no answer through %s (%s); is nats-server there, and hp3-fleet "
			"run?\n",
			hp3_urls_shown(cfg->fleet.servers, servers, sizeof(servers)),
			strerror(ret == 0 ? EBADMSG : -ret));
	return answer;
}
