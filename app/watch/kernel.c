/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's watcher: ib_core's functions. */
#include <errno.h>
#include <stdlib.h>
#include "app/bpf/kernel.skel.h"
#include "app/watch/internal.h"

#define KERNEL_ENOTSUPP 524 /* the kernel's ENOTSUPP; no header of user space has it */

struct hp3_watch_kernel {
	struct bpf_kernel *bpf;
};

static int on_kernel_record(void *ctx, void *data, size_t size)
{
	if (size >= sizeof(struct hp3_verbs_call))
		hp3_watch_call(ctx, data);
	return 0;
}

static const char *reason_of_error(int err, bool loading)
{
	switch (err) {
	case -ESRCH:
		return "the kernel has no ib_modify_qp_with_udata with type information: load "
		       "ib_core before hp3d (modprobe ib_core); check that /sys/kernel/btf/ib_core "
		       "exists, and that hp3d has CAP_SYS_ADMIN, which reading it needs";
	case -EOPNOTSUPP:
	case -KERNEL_ENOTSUPP:
	case -EBUSY:
		return "the kernel cannot attach fentry programs: it needs "
		       "CONFIG_FUNCTION_TRACER with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS";
	default:
		return hp3_watch_bpf_error(err, loading);
	}
}

int hp3_watch_kernel_open(struct hp3_watch *w)
{
	struct hp3_watch_kernel *k = calloc(1, sizeof(*k));
	bool loading = true;
	int err = -ENOMEM;

	if (k == NULL)
		return err;
	w->kernel = k;
	k->bpf = bpf_kernel__open();
	if (k->bpf == NULL) {
		err = -errno;
		goto refused;
	}
	err = bpf_kernel__load(k->bpf);
	if (err < 0)
		goto refused;
	loading = false;
	err = bpf_kernel__attach(k->bpf);
	if (err < 0)
		goto refused;
	w->ring = ring_buffer__new(bpf_map__fd(k->bpf->maps.records), on_kernel_record, w, NULL);
	if (w->ring != NULL)
		return 0;
	err = -errno;
refused:
	hp3_watch_notice(w, "queue-pair setup is not watched in the kernel: %s",
		reason_of_error(err, loading));
	hp3_watch_kernel_close(k);
	w->kernel = NULL;
	return err;
}

void hp3_watch_kernel_close(struct hp3_watch_kernel *k)
{
	if (k == NULL)
		return;
	bpf_kernel__destroy(k->bpf);
	free(k);
}

uint64_t hp3_watch_kernel_lost(const struct hp3_watch_kernel *k)
{
	return k->bpf->bss->lost;
}
