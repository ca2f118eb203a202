/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by all event sources. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include "app/watch/internal.h"

const char *hp3_watch_bpf_error(int err, bool loading)
{
	/* Without the capability for loading, the error is -EPERM. */
	if (loading && err == -EACCES)
		return "the verifier of this kernel refuses its BPF programs: report it with the "
		       "output of uname -r";
	switch (err) {
	case -EPERM:
	case -EACCES:
		return "no permission for BPF: run as root, or with CAP_BPF, CAP_PERFMON and (for "
		       "uprobes on new kernels) CAP_SYS_ADMIN";
	case -ENOSYS:
		return "the kernel was built without BPF (CONFIG_BPF_SYSCALL)";
	case -ENOENT:
	case -EINVAL:
		return "the kernel lacks a BPF feature: it needs Linux 5.8 with uprobes "
		       "(CONFIG_UPROBES, CONFIG_BPF_EVENTS) and type information "
		       "(CONFIG_DEBUG_INFO_BTF)";
	default:
		return strerror(-err);
	}
}

int hp3_watch_add_fd(struct hp3_watch *w, int fd, enum hp3_watch_tag tag, uint32_t value)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)tag << 32 | value};

	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void hp3_watch_call(struct hp3_watch *w, const struct hp3_verbs_call *c)
{
	int err = hp3_qps_call(w->qps, c);

	if (err == -EDQUOT && w->over_share++ == 0)
		hp3_watch_notice(&w->o,
			"user %u has %u queue pairs, the share of one user: its further "
			"ones are not followed; other users' are",
			c->uid, HP3_QPS_OF_USER);
	else if (err < 0 && err != -EDQUOT && w->refused++ == 0)
		hp3_watch_notice(&w->o, "queue pairs beyond the first %u are not followed: %s",
			hp3_qps_count(w->qps), strerror(-err));
}
