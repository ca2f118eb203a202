/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Numbers of the calls that can fail. The includer sets CALLS to the program's table: "calls.def"
 * or "hp3ctl.def". */
#include "shim.h"

enum number {
#define X(name, value, err) NUMBER_##name,
#define H                   X
#include CALLS
#undef H
#undef X
	NUMBERS
};
