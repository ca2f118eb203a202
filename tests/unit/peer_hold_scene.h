/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Tests of holds: a queue pair `q` in verbs mode, whose peer may READ. */
#include "engine/moves/peer_hold.h"
#include "scene.h"

#define HOME        0xd001
#define MAX_HOLD_MS 2u
#define LEASE_US    (HP3_PEER_HOLDS * MAX_HOLD_MS * 1000u)

void verbs_qp(void);
