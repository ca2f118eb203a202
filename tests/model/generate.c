/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the state machine of a move as Promela, from the very table that rfr.c compiles: the model
 * cannot drift from the code. rfr.pml includes the result.
 *
 * step(state, input): what `input` does in `state`; sets `state`, and `act` to what is to be done.
 * Two expressions, not a choice between guards: that is quicker to compile and to search.
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
	printf(" };\n\ninline step(state, input)\n{\n\tact = ");
#define X(st, in, next, action)                                                                    \
	printf("(state == ST_%s && input == IN_%s -> DO_%s :\n\t\t", #st, #in, #action);
	HP3_RFR_TRANSITIONS(X)
#undef X
	printf("DO_NONE");
#define X(st, in, next, action) printf(")");
	HP3_RFR_TRANSITIONS(X)
#undef X
	printf(";\n\tstate = ");
#define X(st, in, next, action)                                                                    \
	printf("(state == ST_%s && input == IN_%s -> ST_%s :\n\t\t", #st, #in, #next);
	HP3_RFR_TRANSITIONS(X)
#undef X
	printf("state");
#define X(st, in, next, action) printf(")");
	HP3_RFR_TRANSITIONS(X)
#undef X
	printf("\n}\n");
	return 0;
}
