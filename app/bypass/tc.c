/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs at tc ingress and egress of an interface. */
#include <errno.h>
#include <bpf/libbpf.h>
#include "app/bypass/internal.h"

#define HANDLE 1u

static struct bpf_tc_hook hook_of(int ifindex, enum bpf_tc_attach_point where)
{
	return (struct bpf_tc_hook){
		.sz = sizeof(struct bpf_tc_hook), .ifindex = ifindex, .attach_point = where};
}

static struct bpf_tc_opts tc_place(void)
{
	return (struct bpf_tc_opts){.sz = sizeof(struct bpf_tc_opts),
		.handle = HANDLE,
		.priority = HP3_BYPASS_PRIORITY};
}

int hp3_bypass_tc_attach(int ifindex, enum bpf_tc_attach_point where, int prog_fd)
{
	struct bpf_tc_hook hook = hook_of(ifindex, where);
	struct bpf_tc_opts opts = tc_place();
	int err = bpf_tc_hook_create(&hook);

	if (err < 0 && err != -EEXIST)
		return err;
	opts.prog_fd = prog_fd;
	opts.flags = BPF_TC_F_REPLACE;
	return bpf_tc_attach(&hook, &opts);
}

int hp3_bypass_tc_detach(int ifindex, enum bpf_tc_attach_point where)
{
	struct bpf_tc_hook hook = hook_of(ifindex, where);
	struct bpf_tc_opts opts = tc_place();

	return bpf_tc_detach(&hook, &opts);
}

int hp3_bypass_tc_query(int ifindex, uint32_t *prog_id)
{
	struct bpf_tc_hook hook = hook_of(ifindex, BPF_TC_INGRESS);
	struct bpf_tc_opts opts = tc_place();
	int err = bpf_tc_query(&hook, &opts);

	*prog_id = opts.prog_id;
	return err;
}

bool hp3_bypass_attached(int ifindex)
{
	uint32_t id;

	return hp3_bypass_tc_query(ifindex, &id) == 0;
}
