/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The parts of a watcher. The file watch.c combines the parts, and common.c has functions for all
 * parts. One epoll descriptor covers all event sources; each source has a tag.
 */
#include <bpf/libbpf.h>
#include "app/watch/qps.h"
#include "app/watch/watch.h"

enum hp3_watch_tag { HP3_TAG_RING, HP3_TAG_PROCESS, HP3_TAG_DEVICES, HP3_TAG_SCAN };

struct hp3_watch {
	struct hp3_watch_options o;
	struct hp3_qps *qps;
	struct bpf_kernel *kernel;
	struct hp3_watch_library *library;
	/* with `library`: processes for whose end the watcher waits */
	struct hp3_processes *processes;
	struct hp3_unseen *unseen; /* with `library` and o.discover: see unseen.c */
	struct ring_buffer *ring; /* ring of the kernel's or the library's watcher */
	int epoll;
	const __u64 *lost_records; /* counter of the BPF programs that write the ring */
	uint64_t lost; /* value of *lost_records at the last notice */
	/* calls about queue pairs that the watcher does not follow; a notice reports the first of
	 * each kind */
	unsigned refused; /* beyond HP3_QPS_MAX, or no memory */
	unsigned over_share; /* beyond HP3_QPS_OF_USER */
};

/* Adds a descriptor. In data.u64 of its epoll event, the upper half is the tag, the lower half
 * `value`. */
int hp3_watch_add_fd(struct hp3_watch *w, int fd, enum hp3_watch_tag tag, uint32_t value);
void hp3_watch_call(struct hp3_watch *w, const struct hp3_verbs_call *c);
/*
 * The reason of a BPF error, with the fix. `loading`: the error occurred when loading, not when
 * attaching.
 */
const char *hp3_watch_bpf_error(int err, bool loading);

/* kernel.c. Returns 0, or a negative errno after a notice. Sets w->ring and w->lost_records. */
int hp3_watch_kernel_open(struct hp3_watch *w);
void hp3_watch_kernel_close(struct hp3_watch *w);

/* library.c. Returns and sets the same as hp3_watch_kernel_open(). */
int hp3_watch_library_open(struct hp3_watch *w);
void hp3_watch_library_close(struct hp3_watch_library *l);
struct hp3_file;
/* Watches another copy of the library. Returns 1; 0 if the copy is already watched; or a negative
 * errno. */
int hp3_watch_library_attach(struct hp3_watch *w, const struct hp3_file *f);

/* processes.c: gives DOWN events for the queue pairs of a process that ended. */
int hp3_processes_open(struct hp3_watch *w);
void hp3_processes_close(struct hp3_processes *p);
void hp3_processes_add(struct hp3_watch *w, uint32_t pid);
void hp3_processes_ended(struct hp3_watch *w, uint32_t pid);
/*
 * Ends the queue pairs of callers that have ended. Call it when all recorded calls have been
 * handled.
 */
void hp3_processes_settle(struct hp3_watch *w);

/*
 * unseen.c: finds processes that have an RDMA device open, but no watched library mapped. If
 * possible, also watches the copies of the library in these processes.
 */
int hp3_unseen_open(struct hp3_watch *w);
void hp3_unseen_close(struct hp3_unseen *u);
void hp3_unseen_opened(struct hp3_watch *w); /* a device was opened: scan soon */
void hp3_unseen_scan(struct hp3_watch *w);

/* Entries of a device's GID table in sysfs (Documentation/ABI sysfs-class-infiniband). */

/*
 * Reads an entry. Returns 0; -EINVAL: invalid name of a device, or invalid GID; -EPROTONOSUPPORT:
 * the entry is not for RoCEv2; otherwise the error of reading the files.
 */
int hp3_gid_read(
	const char *sysfs, const char *device, unsigned port, unsigned index, struct hp3_gid *out);

/*
 * The two processes of hp3-watch. The first process watches. It reads data of untrusted processes,
 * and these data may make it die or hang. The second process, the keeper, reads no data of
 * untrusted processes. If the first process ends or hangs, the keeper starts it again. The pause
 * before a start doubles each time, up to a minute. The keeper keeps the capabilities that the
 * first process needs. Both processes end when hp3d ends.
 */

/*
 * Serves hp3d at the other end of `socket` (message.h) until hp3d closes it. The hooks of *o have
 * no effect, because hp3d gets events and notices as messages. Returns 0; -1: no watcher is
 * available.
 */
int hp3_keep(int socket, const struct hp3_watch_options *o);

/*
 * Watches queue pairs, and sends events to `socket` (message.h). Meanwhile, writes a byte to `life`
 * several times per second, so that the keeper detects a hang. On failure, returns the process's
 * exit code.
 */
int hp3_report(int socket, int life, const struct hp3_watch_options *o);

/* Restricts a process that reads untrusted files and memory. */

/*
 * Drops all capabilities (capabilities(7)) of this thread except those needed to start watching
 * (with o->discover, also later). Neither the thread nor a program that the thread executes can get
 * the dropped capabilities back. Returns 0, or a negative errno.
 */
int hp3_confine(const struct hp3_watch_options *o);

/*
 * Call it when watching has started. Without o->discover, drops all capabilities. If the kernel has
 * Landlock, also forbids changes of file systems and execution of programs. With o->discover,
 * changes nothing, because Landlock would forbid the inspection of other processes. Returns 0, or a
 * negative errno.
 */
int hp3_confine_more(const struct hp3_watch_options *o);

/* Limits open files and memory; forbids core dumps and writes to files. */
void hp3_confine_limits(void);
