/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Why a flow is not paired, and what helps: the only list of these reasons and their texts. The
 * engine gives one of them to each flow without a pairing (hp3_flow_info.unpaired). hp3d --replay
 * gives one to each stream of a capture.
 *
 * X(symbol, code, text, what helps on a rail, what helps with a capture). NULL: the reason does not
 * occur there.
 */
#include <stddef.h>

#define HP3_HELP_SETUP                                                                             \
	"let hp3d see the set-up of queue pairs: connect by rdma_cm, or let hp3-watch run here "   \
	"(if hp3ctl health --all shows watch.by none, hp3d printed why at its start); then "       \
	"restart the application"

#define HP3_UNPAIRED_REASONS(X)                                                                    \
	X(PAIRED, "paired", "the flow is paired", NULL, NULL)                                      \
	X(OFF, "challenge-off", "[pairing] challenge is off, and no set-up event was seen",        \
		"set [pairing] challenge = on, and reload", NULL)                                  \
	X(MODE, "mode-off", "the mode is off, so hp3d pairs no flows", "type hp3ctl mode on",      \
		NULL)                                                                              \
	X(BARRED, "barred", "[filter] bars the address of the peer",                               \
		"change [filter], and reload", NULL)                                               \
	X(SILENT, "nothing-sent", "the queue pair has sent no request since its set-up",           \
		"nothing to do: hp3d pairs the flow when the queue pair sends requests", NULL)     \
	X(UNTRACKED, "untracked", "replies to requests that hp3d did not see may still arrive",    \
		"try again in a second", NULL)                                                     \
	X(ASKING, "asking", "hp3d waits for replies to its challenges",                            \
		"try again when the queue pair has sent more requests", NULL)                      \
	X(NEAR, "others-near", "the PSNs are near those of another queue pair to the same peer",   \
		HP3_HELP_SETUP, NULL)                                                              \
	X(AHEAD, "others-ahead", "other queue pairs without a pairing sent the same PSNs earlier", \
		"nothing to do: hp3d pairs those queue pairs first", NULL)                         \
	X(FULL, "too-many-queue-pairs", "too many queue pairs without a pairing send to the peer", \
		"raise [flows] max_flows, or " HP3_HELP_SETUP, NULL)                               \
	X(OPCODE, "unknown-opcode", "requests have an opcode that hp3d does not know",             \
		"nothing to do: hp3d forwards such queue pairs unchanged",                         \
		"nothing to do: hp3d forwards such queue pairs unchanged")                         \
	X(ICRC, "wrong-icrc", "the ICRC is wrong in all replies",                                  \
		"place hp3d where packets are as on the wire: some RNICs compute the ICRC later",  \
		"record on the wire or in the peer: some RNICs compute the ICRC later")            \
	X(NO_REPLIES, "no-replies", "no replies were seen",                                        \
		"let both directions pass this hp3d: see hp3ctl bypass, the routes of replies, "   \
		"and [bond.NAME] if the rails are ports of a bond",                                \
		"record ACKs too: use no filter by length or opcode")                              \
	X(UNANSWERED, "unanswered", "no replies with the PSNs of these requests were seen",        \
		HP3_HELP_SETUP, "record for a longer time")                                        \
	X(AMBIGUOUS, "ambiguous", "the replies match the PSNs of several queue pairs",             \
		HP3_HELP_SETUP, "record the set-up of the queue pairs, or for a longer time")      \
	X(WRONG, "wrong-icrc-everywhere", "the ICRC is wrong in all packets", NULL,                \
		"record on the wire or in the peer: some RNICs compute the ICRC later")            \
	X(ONE_WAY, "one-direction", "no packets of the other direction were seen", NULL,           \
		"record both directions of the link")                                              \
	X(NO_REQUESTS, "no-requests", "no requests to these replies were seen", NULL,              \
		"record requests too: use no filter by length or opcode")                          \
	X(OTHER_REQUESTS, "other-requests",                                                        \
		"no requests with the PSNs of these replies were seen", NULL,                      \
		"record for a longer time")                                                        \
	X(MANY_REQUESTS, "ambiguous-requests",                                                     \
		"the PSNs match the requests of several queue pairs", NULL,                        \
		"record the set-up of the queue pairs, or for a longer time")                      \
	X(SAME_ADDRESS, "same-address", "both ends have the same address", NULL,                   \
		"give each end an address of its own")                                             \
	X(UNRELIABLE, "unreliable", "unreliable connection, which hp3d forwards unchanged", NULL,  \
		"nothing to do: hp3d moves only reliable connections")

enum hp3_unpaired_reason {
#define X(symbol, ...) HP3_UNPAIRED_##symbol,
	HP3_UNPAIRED_REASONS(X)
#undef X
		HP3_UNPAIRED_MAX
};

const char *hp3_unpaired_name(enum hp3_unpaired_reason r); /* the code; "?": no such reason */
const char *hp3_unpaired_text(enum hp3_unpaired_reason r); /* part of a sentence */
/* What helps; NULL: the reason does not occur there. */
const char *hp3_unpaired_help(enum hp3_unpaired_reason r);
const char *hp3_unpaired_capture_help(enum hp3_unpaired_reason r);
