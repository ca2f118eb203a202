/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the state machine of a move as Promela, from the very table that rfr.c compiles: the model
 * cannot drift from the code. rfr.pml includes the result.
 *
 * step(state, input): what `input` does in `state`; sets `state`, and `act` to what is to be done.
 */
#include <stdio.h>
#include "rfr/transitions.h"

int main(void)
{
	const char *sep = "";

	printf("/* generated from rfr/transitions.h */\n");
#define X(sym, text)                                                                               \
	printf("%sST_%s", sep, #sym);                                                              \
	sep = ", ";
	printf("mtype:state = { ");
	HP3_RFR_STATES(X)
#undef X
#define X(sym, text)                                                                               \
	printf("%sIN_%s", sep, #sym);                                                              \
	sep = ", ";
	sep = "";
	printf(" };\nmtype:input = { ");
	HP3_RFR_INPUTS(X)
#undef X
#define X(sym, text)                                                                               \
	printf("%sDO_%s", sep, #sym);                                                              \
	sep = ", ";
	sep = "";
	printf(" };\nmtype:action = { ");
	HP3_RFR_ACTIONS(X)
#undef X
	printf(" };\n\ninline step(state, input)\n{\n\tif\n");
#define X(st, in, next, action)                                                                    \
	printf("\t:: state == ST_%s && input == IN_%s -> state = ST_%s; act = DO_%s\n", #st, #in,  \
		#next, #action);
	HP3_RFR_TRANSITIONS(X)
#undef X
	printf("\t:: else -> act = DO_NONE\n\tfi\n}\n");
	return 0;
}
