/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the kernel. */
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include "app/doctor/internal.h"

/* -EPERM: the user lacks a capability; the kernel would allow such programs. */
void hp3_check_bpf(struct hp3_doctor *d)
{
	int ret = d->host->tc_bpf();

	if (ret == 0)
		return;
	hp3_find(d, "the kernel refuses BPF programs for tc: %s", strerror(-ret));
	if (ret == -EPERM || ret == -EACCES)
		hp3_fix(d, "run it as root, or with CAP_BPF and CAP_NET_ADMIN: sudo hp3ctl doctor");
	else
		hp3_fix(d, "use a kernel with CONFIG_BPF_SYSCALL=y, such as Debian's: apt-get "
			   "install linux-image-amd64");
}

/* The value of a kernel build option: 'y', 'm', 'n', or 0 if not known. */
static char kernel_option(const struct hp3_host *h, const char *name)
{
	char release[128], path[2][512], line[256];
	size_t n = strlen(name);
	char set = 0;

	if (!hp3_host_line(h, release, sizeof(release), "/proc/sys/kernel/osrelease"))
		return 0;
	snprintf(path[0], sizeof(path[0]), "%s/boot/config-%s", h->root, release);
	snprintf(path[1], sizeof(path[1]), "%s/proc/config.gz", h->root);
	for (unsigned i = 0; set == 0 && i < 2; i++) {
		gzFile f = gzopen(path[i], "r"); /* also reads plain files */

		if (f == NULL)
			continue;
		set = 'n';
		while (gzgets(f, line, sizeof(line)) != NULL) {
			if (strncmp(line, name, n) == 0 && line[n] == '=')
				set = line[n + 1];
		}
		gzclose(f);
	}
	return set;
}

void hp3_check_clsact(struct hp3_doctor *d)
{
	static const char *const wanted[] = {
		"CONFIG_NET_SCH_INGRESS", "CONFIG_NET_CLS_BPF", "CONFIG_NET_CLS_ACT"};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (kernel_option(d->host, wanted[i]) != 'n')
			continue;
		hp3_find(d, "the kernel was built without %s", wanted[i]);
		hp3_fix(d, "use a kernel that has it, such as Debian's: apt-get install "
			   "linux-image-amd64");
	}
}

void hp3_check_af_xdp(struct hp3_doctor *d, const struct hp3_port *p)
{
	if (strcmp(p->driver, "net_af_xdp") != 0 ||
		kernel_option(d->host, "CONFIG_XDP_SOCKETS") != 'n')
		return;
	hp3_find(d, " = \"%s\": the kernel was built without CONFIG_XDP_SOCKETS", p->devargs);
	hp3_fix(d, "use net_af_packet instead of net_af_xdp");
}

void hp3_check_lockdown(struct hp3_doctor *d)
{
	char text[128];

	if (!hp3_host_line(d->host, text, sizeof(text), "/sys/kernel/security/lockdown") ||
		strstr(text, "[confidentiality]") == NULL ||
		(d->cfg != NULL && d->cfg->watch.verbs == HP3_WATCH_OFF))
		return;
	hp3_find(d, "the kernel is locked down: %s", text);
	hp3_fix(d, "boot with lockdown=integrity, or set [watch] verbs = off");
}
