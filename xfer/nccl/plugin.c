/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that NCCL loads. */
#include <stdlib.h>
#include "xfer/nccl/plugin.h"

#define NET_EXPORT __attribute__((visibility("default")))
#define SPEED      100000 /* Mb/s, if HP3X_NCCL_SPEED does not say */

static int count_devices(int *n)
{
	*n = 1; /* all rails together */
	return NET_SUCCESS;
}

static int speed_of_rails(void)
{
	const char *text = getenv("HP3X_NCCL_SPEED");
	long speed = text != NULL ? strtol(text, NULL, 10) : 0;

	return speed > 0 && speed <= 100000000 ? (int)speed : SPEED;
}

static int fill_properties(int device, struct net_properties_v10 *p)
{
	static char name[] = "hp3x";

	if (device != 0)
		return NET_INVALID_ARGUMENT;
	*p = (struct net_properties_v10){.name = name,
		.guid = 1,
		.pointers = NET_HOST,
		.global_regions = 1,
		.speed = speed_of_rails(),
		.port = 1,
		.most_comms = NET_COMMS,
		.most_receives = 1,
		.devices = {.n = 1},
		.most_p2p = NET_MOST,
		.most_collective = NET_MOST};
	return NET_SUCCESS;
}

static int fill_properties_v11(int device, struct net_properties_v11 *p)
{
	p->most_multi_requests = 1;
	return fill_properties(device, &p->v10);
}

static int open_v10(net_log_fn *log, net_profile_fn *profile)
{
	(void)profile;
	return net_open(log);
}

static int open_v11(
	void **context, uint64_t comm, void *config, net_log_fn *log, net_profile_fn *profile)
{
	(void)comm;
	(void)config;
	(void)profile;
	*context = &net_plugin;
	return net_open(log);
}

static int finalize_plugin(void *context)
{
	(void)context;
	net_close();
	return NET_SUCCESS;
}

static int listen_v11(void *context, int device, void *handle, void **listener)
{
	(void)context;
	return net_listen(device, handle, listener);
}

static int connect_v10(int device, void *config, void *handle, void **comm, void **offload)
{
	(void)config;
	(void)offload;
	return device == 0 ? net_connect(handle, comm) : NET_INVALID_ARGUMENT;
}

static int connect_v11(void *context, int device, void *handle, void **comm, void **offload)
{
	return connect_v10(device, context, handle, comm, offload);
}

/* Host memory needs no flush. */
static int flush_nothing(void *comm, int n, void **data, int *sizes, void **memory, void **request)
{
	(void)comm, (void)n, (void)data, (void)sizes, (void)memory;
	*request = NULL;
	return NET_SUCCESS;
}

static int refuse_dmabuf(
	void *comm, void *data, size_t size, int type, uint64_t offset, int fd, void **memory)
{
	(void)comm, (void)data, (void)size, (void)type, (void)offset, (void)fd;
	*memory = NULL;
	return NET_INVALID_USAGE;
}

static int set_attributes(void *context, void *attributes)
{
	(void)context, (void)attributes;
	return NET_SUCCESS;
}

/* Not offered: device_memory, consumed, make_device. */
#define COMMON                                                                                     \
	.accept = net_accept, .register_memory = net_register, .register_dmabuf = refuse_dmabuf,   \
	.deregister_memory = net_deregister, .isend = net_isend, .irecv = net_irecv,               \
	.iflush = flush_nothing, .test = net_test, .close_send = net_close_comm,                   \
	.close_receive = net_close_comm, .close_listen = net_close_listen

NET_EXPORT const struct net_v10 ncclNetPlugin_v10 = {.name = "hp3x",
	.init = open_v10,
	.devices = count_devices,
	.properties = fill_properties,
	.listen = net_listen,
	.connect = connect_v10,
	COMMON};

NET_EXPORT const struct net_v11 ncclNetPlugin_v11 = {.name = "hp3x",
	.init = open_v11,
	.devices = count_devices,
	.properties = fill_properties_v11,
	.listen = listen_v11,
	.connect = connect_v11,
	.finalize = finalize_plugin,
	.attributes = set_attributes,
	COMMON};
