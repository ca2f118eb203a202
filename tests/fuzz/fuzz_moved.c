/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as the flow state file, in which an hp3d stores the ports of moved flows for
 * the next hp3d. The loader refuses it with a reason, or returns a list. The flows of the list
 * then begin in an engine on the ports of the list, and the engine's counts add up. The same
 * input is also read as the kernel's map of flows (fail-open).
 */
#include "app/flowid.h"
#include "app/hp3d/control/flow_state_file.h"
#include "caller.h"
#include "input.h"

#define BOOT_FILE "/proc/sys/kernel/random/boot_id"
#define BOOT_MARK "@boot-id-of-this-machine-----------@" /* as long as an id */

static char path[32];

/* A file of its own, since links are not followed; of this boot, where the mark is whole. */
static void write_file(const uint8_t *data, size_t size)
{
	static char boot[sizeof(BOOT_MARK)];
	const uint8_t *mark = memmem(data, size, BOOT_MARK, strlen(BOOT_MARK));
	FILE *f;
	int fd;

	if (boot[0] == '\0') {
		f = fopen(BOOT_FILE, "r");
		MUST(f != NULL && fgets(boot, sizeof(boot), f) != NULL);
		fclose(f);
	}
	strcpy(path, "/dev/shm/hp3-fuzz-XXXXXX");
	fd = mkstemp(path);
	MUST(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	if (mark != NULL)
		MUST(pwrite(fd, boot, strlen(BOOT_MARK), mark - data) > 0);
	close(fd);
}

static void restore(struct caller *c, json_t *entry)
{
	const char *text;
	struct hp3_flowid id, again;
	struct hp3_ends ends;
	char name[HP3_FLOWID_MAX];
	int port, replies;

	if (json_unpack(entry, "{s:s, s:i, s:i}", "flow", &text, "port", &port, "replies",
		    &replies) != 0 ||
		hp3_flowid_parse(text, &id) < 0)
		return;
	MUST(id.vlan <= HP3_VLAN_MAX && id.rqpn <= 0xffffff);
	MUST(hp3_flowid_format(&id, name, sizeof(name)) > 0);
	MUST(hp3_flowid_parse(name, &again) == 0 && memcmp(&id, &again, sizeof(id)) == 0);
	ends = (struct hp3_ends){id.ipv6, id.vlan, id.local, id.remote};
	if (hp3_flow_restore(c->e, &ends, id.rqpn, (uint16_t)port, (uint16_t)replies, c->now) == 0)
		MUST(hp3_flow_find(c->e, &ends, id.rqpn) != HP3_NO_FLOW);
	MUST(hp3_engine_flows(c->e) <= FLOWS);
	MUST(hp3_engine_moved(c->e) <= hp3_engine_flows(c->e));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct caller c;
	json_t *flows, *entry;
	const char *why;
	size_t i;

	write_file(data, size);
	flows = hp3d_flow_state_read(path, &why);
	unlink(path);
	MUST((flows == NULL) == (why != NULL));
	if (flows == NULL)
		return 0;
	caller_start(&c, (uint8_t)size);
	json_array_foreach (flows, i, entry)
		restore(&c, entry);
	caller_end(&c, size & 1);
	json_decref(flows);
	return 0;
}
