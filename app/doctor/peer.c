/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the other end of a veth pair, which decides how frames arrive here. It may be in another
 * network namespace: a named one (ip netns), or that of a process. The calling thread enters the
 * namespace for a moment, so the program must have only one thread.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/doctor/host.h"
#include "base/plain.h"

#define NAMESPACES_MAX 256u /* most namespaces of processes to search */

static int take_nsid(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct rtgenmsg))
	{
		if (mnl_attr_get_type(a) == NETNSA_NSID)
			*(int *)arg = (int)mnl_attr_get_u32(a);
	}
	return MNL_CB_OK;
}

/* The id of namespace `fd` in ours; -1: none. */
static int nsid_of(int fd)
{
	union {
		struct nlmsghdr hdr;
		char room[256];
	} request = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(&request);
	int id = -1;

	nlh->nlmsg_type = RTM_GETNSID;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct rtgenmsg));
	mnl_attr_put_u32(nlh, NETNSA_FD, (uint32_t)fd);
	return hp3_netlink(nlh, take_nsid, &id) < 0 ? -1 : id;
}

static bool read_peer(struct hp3_link_info *l)
{
	struct hp3_interface_peer *p = &l->itf.peer;
	struct hp3_link_info other;

	if (hp3_link_by(NULL, l->peer, &other) < 0)
		return false;
	hp3_link_offloads(&other.itf);
	p->found = true;
	p->offloads = other.itf.offloads;
	memcpy(p->name, other.itf.name, sizeof(p->name));
	return true;
}

/* True: the other end is in this namespace. */
static bool look_inside(struct hp3_link_info *l, int own, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;

	if (fd < 0)
		return false;
	if (nsid_of(fd) == l->peer_nsid && setns(fd, CLONE_NEWNET) == 0) {
		found = read_peer(l);
		if (setns(own, CLONE_NEWNET) < 0)
			found = false;
	}
	close(fd);
	return found;
}

/* Skips names that are not a plain word in a command: look_in_processes() names such a namespace by
 * a process. */
static bool look_in_named(struct hp3_link_info *l, int own)
{
	DIR *dir = opendir("/run/netns");
	bool found = false;

	for (struct dirent *e; !found && dir != NULL && (e = readdir(dir)) != NULL;) {
		char path[sizeof("/run/netns/") + sizeof(e->d_name)];

		if (e->d_name[0] == '.' || strlen(e->d_name) > 100 ||
			strcmp(HP3_SHELL_QUOTE(e->d_name), e->d_name) != 0)
			continue;
		snprintf(path, sizeof(path), "/run/netns/%s", e->d_name);
		found = look_inside(l, own, path);
		if (found)
			snprintf(l->itf.peer.inside, sizeof(l->itf.peer.inside),
				"ip netns exec %.100s ", e->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

static bool look_in_processes(struct hp3_link_info *l, int own)
{
	ino_t seen[NAMESPACES_MAX];
	DIR *dir = opendir("/proc");
	bool found = false;
	unsigned n = 0;

	for (struct dirent *e;
		!found && n < NAMESPACES_MAX && dir != NULL && (e = readdir(dir)) != NULL;) {
		char path[64];
		struct stat st;
		unsigned i = 0;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.10s/ns/net", e->d_name);
		if (stat(path, &st) < 0)
			continue;
		while (i < n && seen[i] != st.st_ino)
			i++;
		if (i < n)
			continue;
		seen[n++] = st.st_ino;
		found = look_inside(l, own, path);
		if (found)
			snprintf(l->itf.peer.inside, sizeof(l->itf.peer.inside),
				"nsenter -t %.10s -n ", e->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

void hp3_peer_look(struct hp3_link_info *l)
{
	int own;

	if (l->peer == 0)
		return;
	if (l->peer_nsid < 0) {
		read_peer(l);
		return;
	}
	own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (own < 0)
		return;
	if (!look_in_named(l, own))
		look_in_processes(l, own);
	close(own);
}
