/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the maps of an interface by the attached program, or by their pins. Pins vanish with the
 * mount namespace, such as that of `ip netns exec`.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include "app/bypass/internal.h"

#define MOUNT_POINT "/sys/fs/bpf"
#define RUN         "/run/hp3"
#define MOUNT_LOCK  RUN "/bpf.lock" /* no other user can open the file, so none can lock it */
#define MAPS_MAX    16u

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static bool is_mounted(void)
{
	struct statfs fs;

	return statfs(MOUNT_POINT, &fs) == 0 && (unsigned long)fs.f_type == BPF_FS_MAGIC;
}

/*
 * Only one process mounts the file system, because a second mount would hide the pins in the first
 * one.
 */
int hp3_bypass_mount(void)
{
	int ret = 0, lock;

	if (is_mounted())
		return 0;
	mkdir(RUN, 0755);
	lock = open(MOUNT_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0)
		return -errno;
	if (flock(lock, LOCK_EX) != 0 ||
		(!is_mounted() && mount("bpf", MOUNT_POINT, "bpf", 0, "mode=0700") != 0))
		ret = -errno;
	close(lock);
	return ret;
}

/* Identifies a network namespace, and is never reused; 0: the kernel does not support it. */
static uint64_t netns_cookie(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	if (fd >= 0) {
		if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) != 0)
			cookie = 0;
		close(fd);
	}
	return cookie;
}

void hp3_bypass_path(int ifindex, const char *name, char path[HP3_BYPASS_PATH])
{
	snprintf(path, HP3_BYPASS_PATH, HP3_BYPASS_PINS "/%" PRIu64 "/%d%s%s", netns_cookie(),
		ifindex, name == NULL ? "" : "/", name == NULL ? "" : name);
}

int hp3_bypass_make_directory(int ifindex)
{
	char path[HP3_BYPASS_PATH];

	hp3_bypass_path(ifindex, NULL, path);
	for (char *at = path + strlen(MOUNT_POINT) + 1; at != NULL;) {
		at = strchr(at, '/');
		if (at != NULL)
			*at = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return -errno;
		if (at != NULL)
			*at++ = '/';
	}
	return 0;
}

static const char *const pinned[] = {
	"hp3_port", "hp3_cpu", "hp3_pieces", "hp3_last_piece", "hp3_moved"};
#define PINNED (sizeof(pinned) / sizeof(pinned[0]))

void hp3_bypass_unpin(int ifindex)
{
	char path[HP3_BYPASS_PATH];

	for (unsigned i = 0; i < PINNED; i++) {
		hp3_bypass_path(ifindex, pinned[i], path);
		unlink(path);
	}
	hp3_bypass_path(ifindex, NULL, path);
	rmdir(path);
}

int hp3_bypass_map_of_program(uint32_t id, const char *name)
{
	struct bpf_prog_info info = {0};
	uint32_t maps[MAPS_MAX], len = sizeof(info);
	int prog = bpf_prog_get_fd_by_id(id), fd = -ENOENT;

	if (prog < 0)
		return -errno;
	info.nr_map_ids = MAPS_MAX;
	info.map_ids = (uint64_t)(uintptr_t)maps;
	if (bpf_obj_get_info_by_fd(prog, &info, &len) != 0)
		info.nr_map_ids = 0;
	close(prog);
	for (unsigned i = 0; i < info.nr_map_ids && i < MAPS_MAX && fd < 0; i++) {
		struct bpf_map_info m = {0};
		int map = bpf_map_get_fd_by_id(maps[i]);

		len = sizeof(m);
		if (map < 0)
			return -errno;
		if (bpf_obj_get_info_by_fd(map, &m, &len) == 0 && strcmp(m.name, name) == 0)
			fd = map;
		else
			close(map);
	}
	return fd;
}

/* The map with this name that the attached program uses: a descriptor, or a negative errno. */
static int map_of_attached(int ifindex, const char *name)
{
	uint32_t id;
	int err = hp3_bypass_tc_query(ifindex, &id);

	return err < 0 ? err : hp3_bypass_map_of_program(id, name);
}

/* Checks the attached program first, because it uses its own maps even if others are pinned. */
static int find_map(int ifindex, const char *name)
{
	char path[HP3_BYPASS_PATH];
	int fd = map_of_attached(ifindex, name), pin;

	if (fd >= 0)
		return fd;
	hp3_bypass_path(ifindex, name, path);
	pin = bpf_obj_get(path);
	if (pin < 0)
		pin = -errno;
	return pin < 0 && hp3_bypass_attached(ifindex) ? fd : pin;
}

struct hp3_bypass_port *hp3_bypass_map(int fd)
{
	void *p = mmap(
		NULL, sizeof(struct hp3_bypass_port), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int map_checked(int fd, struct hp3_bypass_port **port)
{
	struct bpf_map_info m = {0};
	uint32_t len = sizeof(m);

	if (bpf_obj_get_info_by_fd(fd, &m, &len) != 0)
		return -errno;
	if (m.value_size != sizeof(**port))
		return -EPROTO;
	*port = hp3_bypass_map(fd);
	if (*port == NULL)
		return -errno;
	if ((*port)->magic == HP3_BYPASS_MAGIC && (*port)->layout == HP3_BYPASS_LAYOUT)
		return 0;
	munmap(*port, sizeof(**port));
	return -EPROTO;
}

int hp3_bypass_peek(int ifindex, struct hp3_bypass_port **port)
{
	int fd = find_map(ifindex, "hp3_port"), err;

	if (fd < 0)
		return fd;
	err = map_checked(fd, port);
	close(fd);
	return err;
}

int hp3_bypass_adopt(int ifindex, struct bpf_bypass *bpf)
{
	struct hp3_bypass_port *port = NULL;
	int err = hp3_bypass_peek(ifindex, &port);

	if (err < 0)
		return err;
	munmap(port, sizeof(*port));
	for (unsigned i = 0; i < PINNED && err == 0; i++) {
		int fd = find_map(ifindex, pinned[i]);

		if (fd < 0)
			return fd;
		err = bpf_map__reuse_fd(bpf_object__find_map_by_name(bpf->obj, pinned[i]), fd);
		close(fd);
	}
	return err;
}
