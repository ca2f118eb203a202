/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* What the files of this module share. bypass.h explains gate, detour and tap. */
#include <bpf/libbpf.h>
#include "app/bypass/bypass.h"
#include "app/bpf/bypass.skel.h"

#define HP3_BYPASS_SOCKETS 16u
#define HP3_BYPASS_PATH    128u

struct hp3_bypass {
	struct bpf_bypass *bpf;
	struct hp3_bypass_port *port; /* the port's map, mapped into this process's memory */
	struct hp3_bypass_options o;
	int sockets[HP3_BYPASS_SOCKETS]; /* sockets of this process; DPDK's drivers close them */
	unsigned n_sockets;
	/*
	 * PACKET_QDISC_BYPASS as the driver set it on AF_PACKET sockets. With this option, frames
	 * do not reach the gate.
	 */
	int past_qdisc;
	uint64_t xdp_lost; /* frames lost by the AF_XDP socket, counted so far */
};

/* pins.c */
/* Mounts the BPF file system for pinned maps if necessary. Returns 0 or a negative errno. */
int hp3_bypass_mount(void);
/* PINS/NETNS/IFINDEX[/NAME] */
void hp3_bypass_path(int ifindex, const char *name, char path[HP3_BYPASS_PATH]);
int hp3_bypass_make_directory(int ifindex);
void hp3_bypass_unpin(int ifindex);
/*
 * Replaces the maps of `bpf` by the maps of attached programs, or by pinned maps. Returns 0;
 * -ENOENT: there are none; -EPROTO: the maps have another layout.
 */
int hp3_bypass_adopt(int ifindex, struct bpf_bypass *bpf);
/* Maps a port's BPF map into memory; NULL: see errno. */
struct hp3_bypass_port *hp3_bypass_map(int fd);
/*
 * Maps the BPF map of an attached program, or a pinned map, into memory. Release this memory with
 * munmap(). -EPROTO: the map has another layout.
 */
int hp3_bypass_peek(int ifindex, struct hp3_bypass_port **port);

/* Returns a descriptor of the map with this name that a program uses, or a negative errno. */
int hp3_bypass_map_of_program(uint32_t id, const char *name);

/* tc.c: the detour at ingress, the gate at egress. */
int hp3_bypass_tc_attach(int ifindex, enum bpf_tc_attach_point where, int prog_fd);
int hp3_bypass_tc_detach(int ifindex, enum bpf_tc_attach_point where);
/* Finds the detour. */
int hp3_bypass_tc_query(int ifindex, uint32_t *prog_id);

/* xdp.c: the XDP program of an interface. */
/*
 * Replaces the map of sockets of b->bpf by the driver's map. -EEXIST: the attached program is not
 * the driver's.
 */
int hp3_bypass_xdp_adopt(struct hp3_bypass *b);
/* Replaces the driver's program by the tap. */
int hp3_bypass_xdp_tap(struct hp3_bypass *b);
/* Detaches a program of hp3d. Returns 0; -ENOENT: no program is attached. */
int hp3_bypass_xdp_detach(int ifindex);

/* sockets.c */
/* Fills in b->sockets. Returns 0; -ENOENT: there is no such socket; or another negative errno. */
int hp3_bypass_find_sockets(struct hp3_bypass *b);
/*
 * Lets the gate check frames of AF_PACKET sockets: clears PACKET_QDISC_BYPASS, and sets SO_MARK to
 * the mark of this process (HP3_BYPASS_MARK_OF()). Returns 0 or a negative errno.
 */
int hp3_bypass_pass_gate(struct hp3_bypass *b);
/* Undoes hp3_bypass_pass_gate(). */
void hp3_bypass_pass_by_gate(const struct hp3_bypass *b);
