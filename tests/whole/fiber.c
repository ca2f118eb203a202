/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the processes: one runs at a time, until it sleeps. A killed thread never returns; its
 * stack is reused.
 */
/* A jump to another stack is what a checked longjmp() takes for a mistake. */
#undef _FORTIFY_SOURCE
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "tests/whole/sim.h"

#define STACK  (1u << 20)
#define STACKS 8u

struct fiber {
	ucontext_t context;
	jmp_buf here;
	bool begun;
	struct process *p;
	int (*fn)(void *arg);
	void *arg;
	void *stack;
	uint64_t nap; /* number of its sleep */
	bool asleep, kicked, ended;
};

static struct fiber *runs;
static void *stacks[STACKS];
static unsigned n_stacks;
static jmp_buf back;

static void leave(struct fiber *f)
{
	if (_setjmp(f->here) == 0)
		_longjmp(back, 1);
}

/* swapcontext() asks the kernel each time for a signal mask that never changes. */
static void change_to(struct fiber *f)
{
	if (_setjmp(back) != 0)
		return;
	if (f->begun)
		_longjmp(f->here, 1);
	f->begun = true;
	setcontext(&f->context);
}

static void enter(struct fiber *f)
{
	FILE *err = stderr;

	runs = f;
	stderr = f->p->log;
	change_to(f);
	stderr = err;
	runs = NULL;
	process_paused(f->p);
}

static void body(void)
{
	struct fiber *f = runs;
	int code;

	code = f->fn(f->arg);
	f->ended = true;
	if (f == f->p->fibers[0]) {
		f->p->state = ENDED;
		f->p->code = code;
	}
	fiber_kick(f->p, false);
	leave(f);
}

static void awake(struct sim *s, void *arg, uint64_t nap)
{
	struct fiber *f = NULL;
	struct process *p = arg;

	/* It may be gone meanwhile, and another one in its place. */
	for (unsigned i = 0; i < FIBERS; i++) {
		if (p->fibers[i] != NULL && p->fibers[i]->nap == nap)
			f = p->fibers[i];
	}
	if (f == NULL || !f->asleep)
		return;
	if (s->now < p->frozen_until) {
		sim_at(s, p->frozen_until, awake, p, nap);
		return;
	}
	f->asleep = false;
	enter(f);
}

static void *get_stack(void)
{
	void *stack;

	if (n_stacks > 0)
		return stacks[--n_stacks];
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		abort();
	return stack;
}

static uint64_t new_nap(struct sim *s)
{
	return ++s->seq;
}

struct fiber *fiber_start(struct process *p, int (*fn)(void *arg), void *arg)
{
	struct fiber *f = calloc(1, sizeof(*f));

	f->p = p;
	f->fn = fn;
	f->arg = arg;
	f->stack = get_stack();
	f->asleep = true;
	f->nap = new_nap(p->sim);
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK;
	makecontext(&f->context, body, 0);
	sim_at(p->sim, p->sim->now, awake, p, f->nap);
	return f;
}

void fiber_kill(struct fiber *f)
{
	if (f == NULL)
		return;
	if (n_stacks < STACKS)
		stacks[n_stacks++] = f->stack;
	else
		munmap(f->stack, STACK);
	free(f);
}

bool fiber_sleep(struct process *p, uint64_t until)
{
	struct fiber *f = runs;

	f->kicked = false;
	f->asleep = true;
	f->nap = new_nap(p->sim);
	if (until != UINT64_MAX)
		sim_at(p->sim, until, awake, p, f->nap);
	leave(f);
	return f->kicked;
}

/* Each looks whether it was for it. */
void fiber_kick(struct process *p, bool lcores)
{
	for (unsigned i = lcores; i < (lcores ? FIBERS : 1); i++) {
		struct fiber *f = p->fibers[i];

		if (f == NULL || !f->asleep || f->kicked || f->ended)
			continue;
		f->kicked = true;
		sim_at(p->sim, p->sim->now, awake, p, f->nap);
	}
}

void fiber_join(struct process *p)
{
	for (unsigned i = 1; i < FIBERS; i++) {
		while (p->fibers[i] != NULL && !p->fibers[i]->ended)
			fiber_sleep(p, UINT64_MAX);
	}
}

struct process *fiber_process(void)
{
	return runs != NULL ? runs->p : NULL;
}

void fiber_free_stacks(void)
{
	while (n_stacks > 0)
		munmap(stacks[--n_stacks], STACK);
}
