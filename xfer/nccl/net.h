/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The network plugin interface of NCCL, versions 10 (NCCL 2.25) and 11 (NCCL 2.28), as far as this
 * plugin needs it: layout and meaning of the tables that NCCL loads by the symbols
 * ncclNetPlugin_v10 and ncclNetPlugin_v11. Functions return a result of NCCL (enum net_result).
 *
 * A function must not block. connect() and accept() return success and a NULL comm, isend() and
 * irecv() success and a NULL request, if they have to be called again.
 *
 * Source: the header files of the interface in NCCL's repository, src/include/plugin.
 */
#include <stddef.h>
#include <stdint.h>

#define NET_HANDLE 128u /* bytes of a handle, which NCCL carries between ranks */
#define NET_HOST   0x1 /* host memory */

enum net_result {
	NET_SUCCESS = 0,
	NET_SYSTEM_ERROR = 2,
	NET_INTERNAL_ERROR = 3,
	NET_INVALID_ARGUMENT = 4,
	NET_INVALID_USAGE = 5,
	NET_REMOTE_ERROR = 6,
};

enum net_level { NET_LOG_WARN = 2, NET_LOG_INFO = 3 };

#define NET_LOG_INIT 0x1u /* subsystems of a log line */
#define NET_LOG_NET  0x10u

typedef void net_log_fn(
	int level, unsigned long flags, const char *file, int line, const char *format, ...);
typedef int net_profile_fn(void **handle, int type, void *parent, int64_t plugin, void *data);

/* Several devices as one. */
struct net_devices {
	int n, device[4];
};

struct net_properties_v10 {
	char *name;
	char *pci_path; /* in /sys; NULL: no PCI device */
	uint64_t guid;
	int pointers; /* NET_HOST: kinds of memory */
	int global_regions; /* a registration holds for all comms */
	int flush;
	int speed; /* Mb/s */
	int port;
	float latency;
	int most_comms;
	int most_receives; /* in one irecv() */
	int offload, offload_version;
	struct net_devices devices;
	size_t most_p2p, most_collective; /* bytes of a message */
};

struct net_properties_v11 {
	struct net_properties_v10 v10;
	int most_multi_requests;
};

/* Functions that both versions have. */
#define NET_COMMON                                                                                 \
	int (*accept)(void *listener, void **comm, void **offload);                                \
	int (*register_memory)(void *comm, void *data, size_t size, int type, void **memory);      \
	int (*register_dmabuf)(void *comm, void *data, size_t size, int type, uint64_t offset,     \
		int fd, void **memory);                                                            \
	int (*deregister_memory)(void *comm, void *memory);                                        \
	int (*isend)(void *comm, void *data, size_t size, int tag, void *memory, void *profile,    \
		void **request);                                                                   \
	int (*irecv)(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory,      \
		void **profile, void **request);                                                   \
	int (*iflush)(void *comm, int n, void **data, int *sizes, void **memory, void **request);  \
	int (*test)(void *request, int *done, int *sizes);                                         \
	int (*close_send)(void *comm);                                                             \
	int (*close_receive)(void *comm);                                                          \
	int (*close_listen)(void *listener);                                                       \
	int (*device_memory)(void *comm, void *memory, void **device);                             \
	int (*consumed)(void *comm, int n, void *request);                                         \
	int (*make_device)(int *device, struct net_devices *devices);

struct net_v10 {
	const char *name;
	int (*init)(net_log_fn *log, net_profile_fn *profile);
	int (*devices)(int *n);
	int (*properties)(int device, struct net_properties_v10 *properties);
	int (*listen)(int device, void *handle, void **listener);
	int (*connect)(int device, void *config, void *handle, void **comm, void **offload);
	NET_COMMON
};

struct net_v11 {
	const char *name;
	int (*init)(void **context, uint64_t comm, void *config, net_log_fn *log,
		net_profile_fn *profile);
	int (*devices)(int *n);
	int (*properties)(int device, struct net_properties_v11 *properties);
	int (*listen)(void *context, int device, void *handle, void **listener);
	int (*connect)(void *context, int device, void *handle, void **comm, void **offload);
	NET_COMMON
	int (*finalize)(void *context);
	int (*attributes)(void *context, void *attributes);
};
