/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/keys/keys.h"
#include <fcntl.h>
#include <pthread.h>
#include <sodium/crypto_generichash.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/keyring.h"
#include "app/hp3d/pipe/pipe.h"
#include "config/identity_file.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define LOOK_NS 5000000ll /* between two polls of the pipes' rings */

static struct {
	pthread_t thread;
	bool running;
	int stop;
} keys;

/* --- the identity --- */

/* The same for all hp3ds of this boot, which may share an identity. */
static uint64_t boot_instance(void)
{
	char text[64];
	uint64_t instance = 0;
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0 && getrandom(&instance, sizeof(instance), 0) == (ssize_t)sizeof(instance))
		return instance;
	if (n > 0) {
		uint8_t hash[crypto_generichash_BYTES];

		crypto_generichash(
			hash, sizeof(hash), (const unsigned char *)text, (size_t)n, NULL, 0);
		memcpy(&instance, hash, sizeof(instance));
	}
	return instance;
}

static uint64_t us_of(clockid_t clock)
{
	return hp3_clock_ns(clock) / 1000;
}

int hp3d_keys_open(const struct hp3_config *cfg)
{
	struct hp3d_identity id = {.instance = boot_instance(),
		.born_us = us_of(CLOCK_REALTIME) - us_of(CLOCK_BOOTTIME)};
	char fingerprint[HP3_FINGERPRINT_LEN];
	int ret;

	if (cfg->probes.keys != HP3_KEYS_AUTO)
		return 0;
	ret = hp3_identity_file_open(cfg->service.state, &id.keys, stderr);
	if (ret < 0)
		return -1;
	hp3_fingerprint(fingerprint, id.keys.public);
	if (ret == HP3_IDENTITY_MADE)
		fprintf(stderr, "hp3d: %s: made a new identity of this host, %s\n",
			cfg->service.state, fingerprint);
	hp3d_identity_set(&id);
	explicit_bzero(&id, sizeof(id));
	return 0;
}

/* --- the thread --- */

/* One computation per pipe and round, so that no pipe waits for all computations of another
 * pipe. */
bool hp3d_keys_compute(void)
{
	bool some = false;

	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		for (unsigned r = 0; r < hp3d_rail_count(); r++) {
			struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), r);
			struct hp3d_agent *a = hp3d_pipe_agent(p);

			some |= a != NULL && hp3d_agent_compute(a);
		}
	}
	return some;
}

static void *run_keys(void *arg)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	while (!__atomic_load_n(&keys.stop, __ATOMIC_RELAXED))
		if (!hp3d_keys_compute())
			nanosleep(&pause, NULL);
	return NULL;
}

int hp3d_keys_start(const struct hp3_config *cfg)
{
	int rc;

	if (cfg->probes.keys != HP3_KEYS_AUTO)
		return 0;
	keys.stop = 0;
	rc = pthread_create(&keys.thread, NULL, run_keys, NULL);
	keys.running = rc == 0;
	if (rc != 0)
		fprintf(stderr,
			"hp3d: no thread to agree on keys: %s; [probes] keys = off does without\n",
			strerror(rc));
	return rc == 0 ? 0 : -1;
}

void hp3d_keys_stop(void)
{
	if (!keys.running)
		return;
	__atomic_store_n(&keys.stop, 1, __ATOMIC_RELAXED);
	pthread_join(keys.thread, NULL);
	keys.running = false;
}

/* --- a copied identity --- */

static void take_identity(struct hp3d_worker *w, void *arg)
{
	for (unsigned r = 0; r < hp3d_rail_count(); r++)
		if (hp3d_rail_is_lead(r))
			hp3d_agent_become(hp3d_pipe_agent(hp3d_worker_pipe(w, r)), arg, hp3d_now());
}

static bool is_cloned(void)
{
	bool cloned = false;

	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		for (unsigned r = 0; r < hp3d_rail_count(); r++) {
			struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), r);

			cloned |= hp3d_agent_is_cloned(hp3d_pipe_agent(p));
		}
	}
	return cloned;
}

void hp3d_keys_watch(const struct hp3_config *cfg)
{
	struct hp3d_identity id = *hp3d_identity();
	char fingerprint[HP3_FINGERPRINT_LEN];

	if (!keys.running || !is_cloned())
		return;
	fprintf(stderr, "hp3d: another host has a copy of this host's identity\n");
	if (hp3_identity_file_renew(cfg->service.state, &id.keys, stderr) < 0)
		return;
	hp3_fingerprint(fingerprint, id.keys.public);
	fprintf(stderr, "hp3d: this host has a new identity, %s\n", fingerprint);
	hp3d_identity_set(&id);
	for (unsigned w = 0; w < hp3d_worker_count(); w++)
		if (hp3d_worker_call(hp3d_worker(w), take_identity, &id.keys) < 0)
			fprintf(stderr, "hp3d: lcore %u did not take the new identity\n", w);
	explicit_bzero(&id, sizeof(id));
}
