/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* For tests of pairing by challenge (rule 15): the engine gets no other information about pairings.
 * Sources include cmocka.h first. */
#include "packets.h"

static inline int challenge_setup(void **state)
{
	rig_setup(state);
	rig.cfg.pair_by_challenge = true;
	rig_configure();
	return 0;
}

#define CHALLENGE_TEST(name) cmocka_unit_test_setup_teardown(name, challenge_setup, rig_teardown)

/* The engine has set AckReq in the last packet. */
static inline bool asked(void)
{
	return rig.vd.flags & HP3_SET_ACKREQ;
}
