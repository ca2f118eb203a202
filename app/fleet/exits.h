/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_EXITS_H
#define HP3_APP_FLEET_EXITS_H
/* Exit codes of hp3-fleet, the same as hp3ctl's: in hp3-fleet(1). */
enum fleet_exit { FLEET_DONE, FLEET_FAILED, FLEET_USAGE, FLEET_UNREACHABLE };
#endif
