/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/lb/lb.h"

/* RFC 2992: each switch hashes the 5-tuple; a flow keeps its path. */
const struct sim_lb sim_lb_ecmp = {.name = "ecmp"};
