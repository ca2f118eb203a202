/* SPDX-License-Identifier: BSD-3-Clause */
/* The XDP program of an interface that net_af_xdp uses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <sys/mman.h>
#include "app/bpf/door.skel.h"
#include "app/bypass/internal.h"
#include "app/one_line.h"

#define DOOR    "hp3_xdp_door"
#define TAP     "hp3_xdp_tap"
#define HP3D    "hp3d"
#define STEP_NS 10000000l
#define WAIT    300 /* steps */

/* The attached program: a descriptor, or a negative errno; -ENOENT: none. */
static int attached_program(int ifindex, uint32_t *id, char name[BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);
	int err = bpf_xdp_query_id(ifindex, 0, id), fd;

	if (err < 0 || *id == 0)
		return err < 0 ? err : -ENOENT;
	fd = bpf_prog_get_fd_by_id(*id);
	if (fd < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) != 0)
		info.name[0] = '\0';
	memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	return fd;
}

/* Replaces the program `from` by `to` without a gap; `to` of -1: by none. */
static int replace_program(int ifindex, int from, int to)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, o, .old_prog_fd = from);

	return bpf_xdp_attach(ifindex, to, XDP_FLAGS_REPLACE, &o);
}

int hp3_bypass_xdp_adopt(struct hp3_bypass *b)
{
	char name[BPF_OBJ_NAME_LEN];
	uint32_t id;
	int prog = attached_program(b->o.ifindex, &id, name), map, err;

	if (prog < 0)
		return prog;
	close(prog);
	if (strcmp(name, DOOR) != 0)
		return -EEXIST;
	map = hp3_bypass_map_of_program(id, "xsks_map");
	if (map < 0)
		return map;
	err = bpf_map__reuse_fd(b->bpf->maps.xsks_map, map);
	close(map);
	return err;
}

int hp3_bypass_xdp_tap(struct hp3_bypass *b)
{
	char name[BPF_OBJ_NAME_LEN];
	uint32_t id;
	int door = attached_program(b->o.ifindex, &id, name), err;

	if (door < 0)
		return door;
	err = replace_program(b->o.ifindex, door, bpf_program__fd(b->bpf->progs.hp3_xdp_tap));
	close(door);
	return err;
}

int hp3_bypass_xdp_detach(int ifindex)
{
	char name[BPF_OBJ_NAME_LEN];
	uint32_t id;
	int prog = attached_program(ifindex, &id, name), err = -ENOENT;

	if (prog < 0)
		return prog;
	if (strcmp(name, TAP) == 0 || strcmp(name, DOOR) == 0)
		err = replace_program(ifindex, prog, -1);
	close(prog);
	return err;
}

/*
 * A hanging hp3d still has its socket, and so the interface. If the process is not visible in this
 * PID namespace, only its keep-alive counts.
 */
static bool is_hanging(const struct hp3_bypass_port *port)
{
	char path[32], name[sizeof(HP3D) + 1];

	snprintf(path, sizeof(path), "/proc/%u/comm", port->pid);
	return port->owner != 0 && hp3_read_line(path, name, sizeof(name)) == 0 &&
	       strcmp(name, HP3D) == 0;
}

/*
 * Waits until the hp3d that took the interface's frames counts as gone. Returns 0, or -EBUSY: it
 * still runs, or hangs.
 */
static int wait_for_end(const struct hp3_bypass_port *port, char *why, size_t cap)
{
	const struct timespec step = {.tv_nsec = STEP_NS};

	for (unsigned i = 0; hp3_bypass_is_used(port, 0, hp3_bypass_now()); i++) {
		if (i == WAIT) {
			snprintf(why, cap, "hp3d of process %u uses it: stop it first", port->pid);
			return -EBUSY;
		}
		nanosleep(&step, NULL);
	}
	if (!is_hanging(port))
		return 0;
	snprintf(
		why, cap, "hp3d of process %u has it, and hangs: kill -9 %u", port->pid, port->pid);
	return -EBUSY;
}

/* Marks the port as STALE, because frames go direct once the tap is detached. */
static int take_leave(int ifindex, char *why, size_t cap)
{
	struct hp3_bypass_port *port;
	int err = hp3_bypass_peek(ifindex, &port);

	if (err < 0)
		return 0;
	err = wait_for_end(port, why, cap);
	if (err == 0) {
		hp3_bypass_change(port, HP3_BYPASS_TAKEN, HP3_BYPASS_STALE);
		hp3_bypass_change(port, HP3_BYPASS_LEAVING, HP3_BYPASS_STALE);
	}
	munmap(port, sizeof(*port));
	return err;
}

int hp3_bypass_xdp_clear(int ifindex, char *why, size_t cap)
{
	char name[BPF_OBJ_NAME_LEN];
	uint32_t id;
	int prog = attached_program(ifindex, &id, name), err = prog;

	if (prog == -ENOENT)
		return 0;
	if (prog >= 0) {
		close(prog);
		if (strcmp(name, TAP) != 0 && strcmp(name, DOOR) != 0) {
			snprintf(why, cap,
				"another XDP program (%s) is attached to the interface; to remove "
				"it: ip link set INTERFACE xdp off",
				name);
			return -EEXIST;
		}
		err = take_leave(ifindex, why, cap);
		if (err < 0)
			return err;
		err = hp3_bypass_xdp_detach(ifindex);
	}
	if (err < 0)
		snprintf(why, cap, "the XDP program of an earlier hp3d: %s", strerror(-err));
	return err;
}

const char *hp3_bypass_xdp_door(void)
{
	static char path[32];
	size_t size;
	const void *object = bpf_door__elf_bytes(&size);
	int fd;

	if (path[0] != '\0')
		return path;
	fd = memfd_create(DOOR, MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (write(fd, object, size) != (ssize_t)size) {
		close(fd);
		return NULL;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}
