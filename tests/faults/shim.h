/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FAULTS_SHIM_H
#define HP3_FAULTS_SHIM_H
/*
 * hp3d and hp3ctl with calls that fail. Every function of calls.def or hp3ctl.def that their own
 * objects call (not what libraries call among themselves) passes a gate, which counts it and lets
 * it fail when its turn has come:
 *
 *     HP3_FAULT=socket:3     the third call of socket() fails
 *     HP3_FAULT=malloc:17+   the 17th one and all behind it
 *     HP3_FAULT_PAGE=FILE    that file is the page below: who maps it, too, sees the counts, and
 * may let other calls fail while hp3d runs HP3_FAULT_POSTED=N     a port keeps so many of its
 * pool's buffers, as a NIC's ring does
 */
#include <stdint.h>

#define HP3_FAULT_CALLS 256u
#define HP3_FAULT_NAME  40u

struct hp3_fault_page {
	uint32_t calls; /* number of names */
	uint32_t fails; /* number of the function that fails; HP3_FAULT_CALLS: none */
	uint32_t first, last; /* its calls that fail, from 1 on */
	uint32_t hits; /* calls that failed */
	uint32_t pad;
	uint64_t by; /* caller of the first failed call: address in the program */
	int64_t wall_s; /* the wall clock is ahead by this */
	uint32_t count[HP3_FAULT_CALLS]; /* calls so far, by number */
	char name[HP3_FAULT_CALLS][HP3_FAULT_NAME];
};

/* For gate.S. True: this call fails. */
int hp3_fault(unsigned number, uintptr_t back);
/* Its return value then; sets errno and rte_errno. */
long hp3_fault_answer(unsigned number);
/* rte_errno, if the program has it. */
void hp3_fault_reported(int err);
int64_t hp3_fault_wall(void); /* seconds */

#endif
