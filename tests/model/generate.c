/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints state machines as Promela, from the very tables that the engine compiles: the models
 * cannot drift from the code. `move`: that of a move and that of its search, for rfr.pml; `spray`:
 * that of an agreement to spray a queue pair, for spray.pml.
 *
 * step(state, input), agreement_step(state, input): what `input` does in `state`; sets `state`, and
 * `act` to what is to be done.
 * search_step(input): the same of the search of `kind` in state `asks`; sets `asks`, and `wish` to
 * the input for the move. search_over(): its step where the move ends. Expressions, not choices
 * between guards: that is quicker to compile and to search.
 */
#include <stdio.h>
#include <string.h>
#include "engine/search/search_steps.h"
#include "rfr/spraying.h"
#include "rfr/transitions.h"

#define X(sym, text)                                                                               \
	printf("%s%s%s", sep, prefix, #sym);                                                       \
	sep = ", ";

/* One function per list of names: "mtype:NAME = { PREFIX_A, ... };" */
#define NAMES(function, list)                                                                      \
	static void function(const char *name, const char *prefix)                                 \
	{                                                                                          \
		const char *sep = "";                                                              \
                                                                                                   \
		printf("mtype:%s = { ", name);                                                     \
		list(X) printf(" };\n");                                                           \
	}

NAMES(states, HP3_RFR_STATES)
NAMES(inputs, HP3_RFR_INPUTS)
NAMES(actions, HP3_RFR_ACTIONS)
NAMES(kinds, HP3_SEARCH_KINDS)
NAMES(search_states, HP3_SEARCH_STATES)
NAMES(search_inputs, HP3_SEARCH_INPUTS)
NAMES(spray_states, HP3_SPRAY_STATES)
NAMES(spray_inputs, HP3_SPRAY_INPUTS)
NAMES(spray_actions, HP3_SPRAY_ACTIONS)
#undef X

static void close_all(unsigned n)
{
	while (n-- > 0)
		putchar(')');
	printf(";\n");
}

static void step(void)
{
	unsigned n = 0;

	printf("\ninline step(state, input)\n{\n\tact = ");
#define X(st, in, next, action)                                                                    \
	n++;                                                                                       \
	printf("(state == ST_%s && input == IN_%s -> DO_%s :\n\t\t", #st, #in, #action);
	HP3_RFR_TRANSITIONS(X)
#undef X
	printf("DO_NONE");
	close_all(n);
	printf("\tstate = ");
#define X(st, in, next, action)                                                                    \
	printf("(state == ST_%s && input == IN_%s -> ST_%s :\n\t\t", #st, #in, #next);
	HP3_RFR_TRANSITIONS(X)
#undef X
	printf("state");
	close_all(n);
	printf("}\n");
}

static void search_step(void)
{
	unsigned n = 0;

	printf("\ninline search_step(input)\n{\n\twish = ");
#define X(k, st, in, next, move)                                                                   \
	n++;                                                                                       \
	printf("(kind == K_%s && asks == PS_%s && input == PI_%s -> IN_%s :\n\t\t", #k, #st, #in,  \
		#move);
	HP3_SEARCH_STEPS(X)
#undef X
	printf("IN_NONE");
	close_all(n);
	printf("\tasks = ");
#define X(k, st, in, next, move)                                                                   \
	printf("(kind == K_%s && asks == PS_%s && input == PI_%s -> PS_%s :\n\t\t", #k, #st, #in,  \
		#next);
	HP3_SEARCH_STEPS(X)
#undef X
	printf("asks");
	close_all(n);
	printf("}\n");
}

static void search_over(void)
{
	unsigned n = 0;

	printf("\ninline search_over()\n{\n\tasks = ");
#define X(k, st, in, next, move)                                                                   \
	if (!strcmp(#in, "OVER")) {                                                                \
		n++;                                                                               \
		printf("(kind == K_%s && asks == PS_%s -> PS_%s :\n\t\t", #k, #st, #next);         \
	}
	HP3_SEARCH_STEPS(X)
#undef X
	printf("asks");
	close_all(n);
	printf("}\n");
}

static void agreement_step(void)
{
	unsigned n = 0;

	printf("\ninline agreement_step(state, input)\n{\n\tact = ");
#define X(st, in, next, action)                                                                    \
	n++;                                                                                       \
	printf("(state == SP_%s && input == SI_%s -> SD_%s :\n\t\t", #st, #in, #action);
	HP3_SPRAY_TRANSITIONS(X)
#undef X
	printf("SD_NONE");
	close_all(n);
	printf("\tstate = ");
#define X(st, in, next, action)                                                                    \
	printf("(state == SP_%s && input == SI_%s -> SP_%s :\n\t\t", #st, #in, #next);
	HP3_SPRAY_TRANSITIONS(X)
#undef X
	printf("state");
	close_all(n);
	printf("}\n");
}

static void move(void)
{
	printf("/* generated from rfr/transitions.h and engine/search/search_steps.h */\n");
	states("state", "ST_");
	inputs("input", "IN_");
	actions("action", "DO_");
	kinds("kind", "K_");
	search_states("asks", "PS_");
	search_inputs("said", "PI_");
	step();
	search_step();
	search_over();
}

static void spray(void)
{
	printf("/* generated from rfr/spraying.h */\n#define TRUST %u\n#define BOUND %u\n",
		HP3_SPRAY_TRUST, HP3_SPRAY_BOUND);
	spray_states("agreed", "SP_");
	spray_inputs("input", "SI_");
	spray_actions("action", "SD_");
	agreement_step();
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "spray"))
		spray();
	else
		move();
	return 0;
}
