/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bypass/bypass.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include "app/bypass/internal.h"

static const char loading[] = "loading its BPF programs";
static const char attached[] = "the program attached to the interface";

static int explain_error(char *why, size_t cap, int err, const char *what)
{
	const char *cause = strerror(-err);

	if (err == -EACCES && what == loading)
		cause = "the verifier of this kernel refuses them: report it with the output of "
			"uname -r";
	else if (err == -EPERM && what == attached)
		cause = "its maps in /sys/fs/bpf/hp3 are gone, and reading it needs CAP_SYS_ADMIN: "
			"type hp3d --detach as root, then start hp3d again";
	else if (err == -EPERM || err == -EACCES)
		cause = "no permission: run as root, or with CAP_BPF, CAP_NET_ADMIN and "
			"CAP_NET_RAW";
	else if (err == -ENOSYS)
		cause = "the kernel was built without BPF (CONFIG_BPF_SYSCALL)";
	else if (err == -EPROTO)
		cause = "it is of a version of hp3 that is incompatible: frames go direct to the "
			"other port until it is removed (hp3d --detach)";
	snprintf(why, cap, "%s: %s", what, cause);
	return err;
}

/* Loads only one tap, so that the kernel need not support the other. */
static int choose_tap(struct hp3_bypass *b)
{
	bpf_program__set_autoload(b->bpf->progs.tap, !b->o.by_xdp);
	bpf_program__set_autoload(b->bpf->progs.gate, !b->o.by_xdp);
	bpf_program__set_autoload(b->bpf->progs.hp3_xdp_tap, b->o.by_xdp);
	if (b->o.by_xdp)
		return hp3_bypass_xdp_adopt(b);
	return bpf_map__set_autocreate(b->bpf->maps.xsks_map, false);
}

static int load_programs(struct hp3_bypass *b, char *why, size_t cap)
{
	struct bpf_map *maps[] = {b->bpf->maps.hp3_port, b->bpf->maps.hp3_cpu,
		b->bpf->maps.hp3_pieces, b->bpf->maps.hp3_last_piece, b->bpf->maps.hp3_moved};
	char path[HP3_BYPASS_PATH];
	int err = hp3_bypass_mount();

	if (err < 0)
		return explain_error(why, cap, err, "mounting /sys/fs/bpf");
	err = hp3_bypass_adopt(b->o.ifindex, b->bpf);
	if (err == -ENOENT || (err == -EPROTO && !hp3_bypass_attached(b->o.ifindex))) {
		hp3_bypass_unpin(b->o.ifindex);
		err = 0;
	}
	if (err < 0)
		return explain_error(why, cap, err, attached);
	err = hp3_bypass_make_directory(b->o.ifindex);
	if (err < 0)
		return explain_error(why, cap, err, HP3_BYPASS_PINS);
	b->bpf->rodata->me = b->o.owner;
	b->bpf->rodata->frame_max = b->o.frame_max;
	b->bpf->rodata->own_port = b->o.own_port;
	b->bpf->rodata->from_network = b->o.from_network;
	b->bpf->rodata->by_xdp = b->o.by_xdp;
	for (uint32_t i = 0; i < HP3_BYPASS_WEIGHTS; i++)
		b->bpf->rodata->port_weight[i] = b->o.port_weight(i);
	for (unsigned i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		hp3_bypass_path(b->o.ifindex, bpf_map__name(maps[i]), path);
		err = bpf_map__set_pin_path(maps[i], path);
		if (err < 0)
			return explain_error(why, cap, err, path);
	}
	err = choose_tap(b);
	if (err < 0)
		return explain_error(why, cap, err, "the driver's XDP program");
	err = bpf_bypass__load(b->bpf);
	return err < 0 ? explain_error(why, cap, err, loading) : 0;
}

static int attach_tap(struct hp3_bypass *b, char *why, size_t cap)
{
	int fd = bpf_program__fd(b->bpf->progs.tap), err = hp3_bypass_find_sockets(b);

	if (err == 0)
		err = b->o.by_xdp ? hp3_bypass_xdp_tap(b) : hp3_bypass_pass_gate(b);
	for (unsigned i = 0; i < b->n_sockets && err == 0 && !b->o.by_xdp; i++) {
		if (setsockopt(b->sockets[i], SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd)) != 0)
			err = -errno;
	}
	return err < 0 ? explain_error(why, cap, err, "the driver's socket") : 0;
}

int hp3_bypass_open(
	const struct hp3_bypass_options *o, struct hp3_bypass **out, char *why, size_t cap)
{
	struct hp3_bypass *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	if (b == NULL)
		return explain_error(why, cap, err, "bypass");
	b->o = *o;
	libbpf_set_print(NULL);
	b->bpf = bpf_bypass__open();
	if (b->bpf == NULL) {
		err = explain_error(why, cap, -errno, "its BPF programs");
		goto fail;
	}
	err = load_programs(b, why, cap);
	if (err < 0)
		goto fail;
	b->port = hp3_bypass_map(bpf_map__fd(b->bpf->maps.hp3_port));
	if (b->port == NULL) {
		err = explain_error(why, cap, -errno, "the map of the port");
		goto fail;
	}
	b->port->magic = HP3_BYPASS_MAGIC;
	b->port->layout = HP3_BYPASS_LAYOUT;
	err = attach_tap(b, why, cap);
	if (err < 0)
		goto fail;
	*out = b;
	return 0;
fail:
	if (hp3_bypass_close(b) < 0)
		err = -ENOTRECOVERABLE;
	return err;
}

int hp3_bypass_attach(struct hp3_bypass *b, const struct hp3_bypass *peer, char *why, size_t cap)
{
	int fd = bpf_map__fd(peer->bpf->maps.hp3_port);
	uint32_t zero = 0;
	int gate = bpf_program__fd(b->bpf->progs.gate);
	int err = bpf_map_update_elem(bpf_map__fd(b->bpf->maps.hp3_peer), &zero, &fd, BPF_ANY);

	if (err < 0)
		return explain_error(why, cap, err, "the map of the peer port");

	b->port->ifindex = (uint32_t)b->o.ifindex;
	b->port->peer = (uint32_t)b->o.peer;
	err = hp3_bypass_tc_attach(
		b->o.ifindex, BPF_TC_INGRESS, bpf_program__fd(b->bpf->progs.detour));
	if (err < 0)
		return explain_error(why, cap, err, "tc ingress (clsact)");
	if (b->o.by_xdp) {
		hp3_bypass_tc_detach(b->o.ifindex, BPF_TC_EGRESS); /* of an earlier hp3d */
		return 0;
	}
	err = hp3_bypass_tc_attach(b->o.ifindex, BPF_TC_EGRESS, gate);
	return err < 0 ? explain_error(why, cap, err, "tc egress (clsact)") : 0;
}

int hp3_bypass_close(struct hp3_bypass *b)
{
	const int unused = 0; /* the kernel requires a value */
	int err = 0;

	if (b == NULL)
		return 0;
	for (unsigned i = 0; i < b->n_sockets && !b->o.by_xdp; i++) {
		if (setsockopt(b->sockets[i], SOL_SOCKET, SO_DETACH_FILTER, &unused,
			    sizeof(unused)) != 0 &&
			errno != ENOENT) /* no filter */
			err = -errno;
	}
	if (!b->o.by_xdp && b->n_sockets > 0)
		hp3_bypass_pass_by_gate(b);
	if (b->port != NULL)
		munmap(b->port, sizeof(*b->port));
	bpf_bypass__destroy(b->bpf);
	free(b);
	return err;
}

int hp3_bypass_remove(int ifindex, char *why, size_t cap)
{
	struct hp3_bypass_port *port;
	int err, xdp;

	libbpf_set_print(NULL);
	err = hp3_bypass_peek(ifindex, &port);
	if (err == 0) {
		bool used = hp3_bypass_is_used(port, 0, hp3_bypass_now());
		unsigned pid = port->pid;

		munmap(port, sizeof(*port));
		if (used) {
			snprintf(why, cap, "hp3d of process %u uses it: stop it first", pid);
			return -EBUSY;
		}
	}
	xdp = hp3_bypass_xdp_detach(ifindex);
	if (xdp < 0 && xdp != -ENOENT)
		return explain_error(why, cap, xdp, "its XDP program");
	hp3_bypass_tc_detach(ifindex, BPF_TC_EGRESS);
	err = hp3_bypass_tc_detach(ifindex, BPF_TC_INGRESS);
	hp3_bypass_unpin(ifindex);
	if (err == -EINVAL) /* no clsact at this interface */
		err = -ENOENT;
	if (err == -ENOENT && xdp == 0)
		err = 0;
	return err < 0 ? explain_error(why, cap, err, "tc ingress (clsact)") : 0;
}

struct hp3_bypass_port *hp3_bypass_port(struct hp3_bypass *b)
{
	return b->port;
}

struct hp3_bypass_counts hp3_bypass_counts(const struct hp3_bypass *b)
{
	uint64_t done = __atomic_load_n(&b->port->done, __ATOMIC_ACQUIRE);
	struct hp3_bypass_counts c = {.taken = hp3_bypass_taken(b->port), .lost = b->port->lost};
	int cpus = libbpf_num_possible_cpus();
	struct hp3_bypass_cpu *each = calloc((size_t)(cpus > 0 ? cpus : 1), sizeof(*each));
	uint32_t zero = 0;

	c.inside = c.taken - done - c.lost;
	if (each != NULL && cpus > 0 &&
		bpf_map_lookup_elem(bpf_map__fd(b->bpf->maps.hp3_cpu), &zero, each) == 0) {
		for (int i = 0; i < cpus; i++) {
			c.roce += each[i].roce;
			c.kept += each[i].kept;
			c.others += each[i].others;
			c.closed += each[i].closed;
		}
	}
	free(each);
	return c;
}

void hp3_bypass_own(struct hp3_bypass *b, uint64_t now)
{
	struct hp3_bypass_port *p = b->port;

	/* From now on, the previous owner's tap takes no frames. */
	__atomic_store_n(&p->owner, b->o.owner, __ATOMIC_SEQ_CST);
	__atomic_and_fetch(&p->word, ~(uint64_t)HP3_BYPASS_STATE, __ATOMIC_SEQ_CST);
	p->pid = (uint32_t)getpid();
	p->closed = 0;
	p->stale_ns = b->o.stale_ns;
	hp3_bypass_heartbeat(p, now);
	__atomic_store_n(&p->lost, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&p->done, hp3_bypass_taken(p), __ATOMIC_RELEASE);
}
