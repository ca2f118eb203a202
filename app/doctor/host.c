/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of this host that no file has. */
#include "app/doctor/host.h"
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <unistd.h>

static int probe_tc_bpf(void)
{
	int ret = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SCHED_CLS, NULL);

	return ret == 1 ? 0 : ret < 0 ? ret : -EOPNOTSUPP;
}

static bool has_symbol(const char *library, const char *symbol)
{
	void *l = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	bool found = l != NULL && dlsym(l, symbol) != NULL;

	if (l != NULL)
		dlclose(l);
	return found;
}

static bool clock_synchronised(void)
{
	struct timex t = {0};

	return adjtimex(&t) >= 0 && !(t.status & STA_UNSYNC);
}

static uint32_t send_buffer(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes;
	socklen_t len = sizeof(bytes);
	uint32_t found = UINT32_MAX;

	if (fd < 0)
		return found;
	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &len) == 0)
		found = (uint32_t)bytes;
	close(fd);
	return found;
}

static bool may_use(int cap)
{
	char text[32];

	if (!hp3_host_field(&hp3_host, "/proc/self/status", "CapEff", text, sizeof(text)))
		return true; /* unknown: a later error reports a missing one */
	return strtoull(text, NULL, 16) >> cap & 1;
}

static bool look_at_interface(const char *name, struct hp3_interface *out)
{
	struct hp3_link_info l;
	int ret = strlen(name) >= IFNAMSIZ ? -ENODEV : hp3_link_by(name, 0, &l);

	if (ret < 0) {
		errno = -ret;
		return false;
	}
	hp3_link_offloads(&l.itf);
	if (strcmp(l.itf.kind, "veth") == 0)
		hp3_peer_look(&l);
	hp3_link_shared(&l);
	*out = l.itf;
	return true;
}

const struct hp3_host hp3_host = {
	.root = "",
	.interface = look_at_interface,
	.own_traffic = hp3_link_own_traffic,
	.vf = hp3_link_vf,
	.tc_bpf = probe_tc_bpf,
	.has_symbol = has_symbol,
	.clock_synchronised = clock_synchronised,
	.send_buffer = send_buffer,
	.may_use = may_use,
};
