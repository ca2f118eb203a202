/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3d and hp3ctl with calls that fail. calls.def and hp3ctl.def list functions. Each call of these
 * functions by hp3's own objects (not by libraries) passes a gate: a wrapper that counts the call,
 * and makes it fail if an environment variable requests it:
 *
 *     HP3_FAULT=socket:3     the third call of socket() fails HP3_FAULT=malloc:17+ the 17th call of
 *                            malloc() and all later calls fail HP3_FAULT_PAGE=FILE that file is the
 *                            page below: who maps it, too, sees the counts, and may let other calls
 *                            fail while hp3d runs HP3_FAULT_POSTED=N a port keeps so many of its
 *                            pool's buffers, as a NIC's ring does
 */
#include <stdint.h>

#define HP3_FAULT_CALLS 256u
#define HP3_FAULT_NAME  40u

struct hp3_fault_page {
	uint32_t calls; /* number of names */
	uint32_t fails; /* number of the function whose calls fail; HP3_FAULT_CALLS: none */
	uint32_t first, last; /* range of its calls that fail; calls are counted from 1 */
	uint32_t hits; /* calls that failed */
	uint32_t pad;
	uint64_t by; /* caller of the first failed call: address in the program */
	int64_t wall_s; /* by how much the wall clock is ahead */
	uint32_t count[HP3_FAULT_CALLS]; /* calls so far, by number */
	char name[HP3_FAULT_CALLS][HP3_FAULT_NAME];
};

/* gate.S calls this for each call. True: the call must fail. */
int hp3_fault(unsigned number, uintptr_t back);
/* The return value of a call that fails. Sets errno and rte_errno. */
long hp3_fault_answer(unsigned number);
/* Sets rte_errno, if the program has this variable. */
void hp3_fault_reported(int err);
int64_t hp3_fault_wall(void); /* seconds */
