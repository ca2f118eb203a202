/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Messages between the two hp3ds of a world of sprayed queue pairs (tests/property/spray_world.h).
 * Agreements are complete frames with tag and time stamp, which are read as hp3d reads them. Of
 * probes, answers and reports of missing replies, only the content is passed.
 */
#include "probes/agree.h"
#include "tests/property/spray_inside.h"

#define PAIR_MESSAGES 256u /* how many are stored: the latest */
#define PAIR_FRAME    512u

enum pair_kind { PAIR_AGREE, PAIR_PROBE, PAIR_ANSWER, PAIR_REPORT, PAIR_KINDS };

struct pair_message {
	uint8_t kind; /* enum pair_kind */
	uint8_t from; /* host */
	bool ce; /* ANSWER */
	uint32_t id; /* PROBE, ANSWER; REPORT: QPN */
	struct hp3_agree agree;
	uint32_t len; /* of the frame */
	uint8_t frame[PAIR_FRAME];
};

/* What happens to the next message. */
struct pair_fate {
	bool lost;
	uint32_t later_us;
	uint32_t again_us; /* delay of a copy; 0: no copy */
};

struct pair_talk {
	struct pair_message said[PAIR_MESSAGES]; /* number n is in place n % PAIR_MESSAGES */
	uint32_t n;
	struct pair_fate next;
	struct pair_end {
		struct hp3_heard heard;
		struct hp3_probe_keys keys;
		struct hp3_probe_stats stats;
		uint64_t stamp;
		uint32_t key, lives;
	} end[2];
};

extern struct pair_talk talk;

/* Resets the state: no message has been sent. */
void pair_talk_begin(void);
/* The host gets a new key, and still accepts the previous one. */
void pair_new_key(unsigned at);
/* Builds a message of host m.from with its newest stamp, and sends it. */
void pair_send_msg(struct world *w, struct pair_message m);
/* Message `number` arrives after a delay. */
void pair_send(struct world *w, uint32_t number, uint64_t later_us);

/* For struct spray_hooks. */
void pair_on_send_msg(struct world *w, unsigned from, const struct hp3_act_agree *a);
void pair_on_message(struct world *w, const struct event *e);
void pair_on_act(struct world *w, unsigned at, const struct hp3_act *a);
