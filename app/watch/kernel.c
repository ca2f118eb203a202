/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's watcher: ib_core's functions. */
#include <errno.h>
#include "app/bpf/kernel.skel.h"
#include "app/watch/internal.h"

#define KERNEL_ENOTSUPP 524 /* the kernel's ENOTSUPP; no header of user space has it */

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
	struct bpf_kernel *bpf = bpf_kernel__open();
	int err = bpf != NULL ? bpf_kernel__load(bpf) : -errno;
	bool loaded = bpf != NULL && err == 0;

	w->kernel = bpf;
	if (loaded)
		err = bpf_kernel__attach(bpf);
	if (loaded && err == 0) {
		w->lost_records = &bpf->bss->lost;
		w->ring =
			ring_buffer__new(bpf_map__fd(bpf->maps.records), on_kernel_record, w, NULL);
		err = w->ring != NULL ? 0 : -errno;
	}
	if (err < 0) {
		hp3_watch_notice(&w->o, "queue-pair setup is not watched in the kernel: %s",
			reason_of_error(err, !loaded));
		hp3_watch_kernel_close(w);
	}
	return err;
}

void hp3_watch_kernel_close(struct hp3_watch *w)
{
	bpf_kernel__destroy(w->kernel);
	w->kernel = NULL;
}
