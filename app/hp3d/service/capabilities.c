/* SPDX-License-Identifier: BSD-3-Clause */
/* Capabilities of hp3d, and the secrets in its memory. */
#include "app/hp3d/service/service.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define BIT(cap) (1ull << (cap))
#define THREADS  1024u
#define WAIT_NS  1000000000ull
#define NAP_NS   100000

/* Poll mode drivers that need no capability once their ports are open. */
static const char *const frugal[] = {
	"net_af_packet", "net_memif", "net_null", "net_pcap", "net_ring", "eth_vhost", "net_vhost"};

/* Other drivers (of NICs, AF_XDP, taps) change queues, filters, memory and interfaces at any time.
 */
#define BY_DRIVER                                                                                  \
	(BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW) | BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_RAWIO) |          \
		BIT(CAP_BPF))
static bool is_frugal(const char *devargs)
{
	for (size_t i = 0; i < sizeof(frugal) / sizeof(frugal[0]); i++) {
		size_t n = strlen(frugal[i]);

		if (strncmp(devargs, frugal[i], n) == 0 && devargs[n] != '_')
			return true;
	}
	return false;
}

uint64_t hp3d_capabilities_needed(const struct hp3_config *cfg)
{
	uint64_t needed = 0;

	for (uint32_t i = 0; i < hp3_config_ports(cfg) / 2; i++)
		if (!is_frugal(cfg->rails[i].rnic) || !is_frugal(cfg->rails[i].net))
			needed |= BY_DRIVER;
	if (hp3_config_is_verbs_mode(
		    cfg)) /* app/hp3d/ud opens sockets on other ports at any time */
		needed |= BIT(CAP_NET_BIND_SERVICE);
	return needed;
}

/* --- each thread drops its own --- */

static uint64_t to_keep;
static unsigned done, failed;

static int read_capabilities(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capget, &header, data);
}

static void give_up(int signal)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int before = errno, rc = read_capabilities(data);

	for (unsigned i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(to_keep >> 32 * i);
		data[i].effective &= (uint32_t)(to_keep >> 32 * i);
		data[i].inheritable = 0;
	}
	if (rc != 0 || syscall(SYS_capset, &header, data) != 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		__atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
	errno = before;
}

static bool is_known(const pid_t *known, unsigned n, pid_t thread)
{
	while (n > 0 && known[n - 1] != thread)
		n--;
	return n > 0;
}

/* Signals the threads that have had no signal yet. Returns how many; -1: /proc is not readable. */
static int signal_threads(pid_t *asked, unsigned *n)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int more = 0;

	if (!dir)
		return -1;
	while ((entry = readdir(dir)) != NULL && *n < THREADS) {
		pid_t thread = (pid_t)atoi(entry->d_name);

		if (thread == 0 || is_known(asked, *n, thread) ||
			syscall(SYS_tgkill, getpid(), thread, SIGRTMAX) != 0)
			continue;
		asked[(*n)++] = thread;
		more++;
	}
	closedir(dir);
	return more;
}

/* False: time-out. */
static bool wait_for(unsigned n)
{
	struct timespec nap = {.tv_nsec = NAP_NS};

	for (uint64_t ns = 0; ns < WAIT_NS; ns += NAP_NS) {
		if (__atomic_load_n(&done, __ATOMIC_ACQUIRE) >= n)
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

int hp3d_capabilities_drop(uint64_t keep)
{
	struct sigaction sa = {.sa_handler = give_up, .sa_flags = SA_RESTART}, before;
	pid_t asked[THREADS];
	unsigned n = 0;
	int more;

	to_keep = keep;
	done = failed = 0;
	sigaction(SIGRTMAX, &sa, &before);
	/* Repeat until no thread is new: a thread without a signal may have started another thread.
	 */
	do
		more = signal_threads(asked, &n);
	while (more > 0 && wait_for(n));
	if (more == 0)
		sigaction(SIGRTMAX, &before, NULL);
	if (more == 0 && failed == 0)
		return 0;
	fprintf(stderr,
		"hp3d: capabilities: only %u of %u threads dropped them: to keep them, set "
		"[service] capabilities = keep\n",
		done - failed, n);
	return -1;
}

void hp3d_capabilities_text(char *buf, size_t cap)
{
	static const char *const names[] = {[CAP_NET_ADMIN] = "net_admin",
		[CAP_NET_RAW] = "net_raw",
		[CAP_NET_BIND_SERVICE] = "net_bind_service",
		[CAP_IPC_LOCK] = "ipc_lock",
		[CAP_SYS_RAWIO] = "sys_rawio",
		[CAP_BPF] = "bpf"};
	struct __user_cap_data_struct data[2] = {0};
	uint64_t all;
	size_t n = 0;

	read_capabilities(data);
	all = data[0].permitted | (uint64_t)data[1].permitted << 32;
	snprintf(buf, cap, all == 0 ? "none" : "all that it had");
	if ((all & ~(BY_DRIVER | BIT(CAP_NET_BIND_SERVICE))) != 0)
		return;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && n < cap; i++) {
		if (names[i] && (all & BIT(i)))
			n += (size_t)snprintf(buf + n, cap - n, "%s%s", n ? ", " : "", names[i]);
	}
}

/* --- secrets --- */

void hp3d_secrets_mask(void)
{
	umask(umask(077) | 022);
}

void hp3d_secrets_keep(const struct hp3_config *cfg)
{
	struct rlimit r;

	if (!hp3_config_has_secret(cfg))
		return;
	if (getrlimit(RLIMIT_CORE, &r) == 0) {
		r.rlim_cur = 0;
		setrlimit(RLIMIT_CORE, &r);
	}
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		fprintf(stderr,
			"hp3d: a core dump would have the key in it, and cannot be prevented (%s): "
			"set LimitCORE=0 in its unit\n",
			strerror(errno));
}
