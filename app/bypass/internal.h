/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BYPASS_INTERNAL_H
#define HP3_BYPASS_INTERNAL_H
/* What the files of this module share. */
#include <bpf/libbpf.h>
#include "app/bypass/bypass.h"
#include "app/bpf/bypass.skel.h"

#define HP3_BYPASS_SOCKETS 16u
#define HP3_BYPASS_PATH    128u

struct hp3_bypass {
	struct bpf_bypass *bpf;
	struct hp3_bypass_port *port; /* the map, in our memory */
	struct hp3_bypass_options o;
	int sockets[HP3_BYPASS_SOCKETS]; /* the process's own, which others close */
	unsigned n_sockets;
	int past_qdisc; /* of AF_PACKET sockets: as the driver has set it; past the gate, too */
	uint64_t xdp_lost; /* what the AF_XDP socket has counted of them so far */
};

/* pins.c */
/* Mounts the file system of pins if it is not there. 0 or a negative errno. */
int hp3_bypass_mount(void);
/* PINS/NETNS/IFINDEX[/NAME] */
void hp3_bypass_path(int ifindex, const char *name, char path[HP3_BYPASS_PATH]);
int hp3_bypass_make_directory(int ifindex);
void hp3_bypass_unpin(int ifindex);
/* The maps of what is attached or pinned there take the place of those of `bpf`. 0; -ENOENT: there
 * are none; -EPROTO: of another layout. */
int hp3_bypass_adopt(int ifindex, struct bpf_bypass *bpf);
/* The map of an interface in our memory; NULL: errno. */
struct hp3_bypass_port *hp3_bypass_map(int fd);
/* The map that is attached or pinned, likewise; release with munmap(). -EPROTO: of another layout.
 */
int hp3_bypass_peek(int ifindex, struct hp3_bypass_port **port);

/* The map of that name which a program uses: a descriptor, or a negative errno. */
int hp3_bypass_map_of_program(uint32_t id, const char *name);

/* tc.c: the detour at ingress, the gate at egress. */
int hp3_bypass_tc_attach(int ifindex, enum bpf_tc_attach_point where, int prog_fd);
int hp3_bypass_tc_detach(int ifindex, enum bpf_tc_attach_point where);
/* Of the detour. */
int hp3_bypass_tc_query(int ifindex, uint32_t *prog_id);

/* xdp.c: the XDP program of an interface. */
/* The driver's map of sockets takes the place of that of b->bpf; -EEXIST: the program is not the
 * one that the driver was given. */
int hp3_bypass_xdp_adopt(struct hp3_bypass *b);
/* The tap takes the place of the program that the driver was given. */
int hp3_bypass_xdp_tap(struct hp3_bypass *b);
/* Takes off what hp3d left: 0; -ENOENT: nothing of the kind is attached. */
int hp3_bypass_xdp_detach(int ifindex);

/* sockets.c */
/* Fills in b->sockets; 0 or -ENOENT. */
int hp3_bypass_find_sockets(struct hp3_bypass *b);
/* The gate sees what AF_PACKET sockets send, and knows whose it is; 0 or a negative errno. */
int hp3_bypass_pass_gate(struct hp3_bypass *b);
/* Undoes it. */
void hp3_bypass_pass_by_gate(const struct hp3_bypass *b);

#endif
