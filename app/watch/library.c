/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's watcher: libibverbs, each copy by the offsets of its functions. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include "app/bpf/library.skel.h"
#include "app/watch/file.h"
#include "app/watch/internal.h"

#define COPIES_MAX   64u
#define VERSIONS_MAX 4u /* of a function */
#define LINKS_MAX    4u /* of a copy: two functions, begin and end */

_Static_assert(offsetof(struct ibv_qp, context) == 0, "library.bpf.c reads the context there");
_Static_assert(offsetof(struct ibv_context, device) == 0, "library.bpf.c reads the device there");
_Static_assert(offsetof(struct ibv_qp, qp_type) + sizeof(enum ibv_qp_type) <= HP3_RECORD_QP,
	"a record holds the queue pair's numbers");
_Static_assert(offsetof(struct ibv_qp_attr, rate_limit) <= HP3_RECORD_ATTR,
	"a record holds the attributes");
_Static_assert(sizeof(((struct ibv_device *)0)->name) == HP3_RECORD_DEVICE, "device names fit");

struct copy {
	dev_t dev;
	ino_t ino;
	unsigned n_links;
	struct bpf_link *link[LINKS_MAX];
};

struct hp3_watch_library {
	struct bpf_library *bpf;
	unsigned n;
	struct copy copies[COPIES_MAX];
};

static int on_library_record(void *ctx, void *data, size_t size)
{
	const struct hp3_library_record *r = data;
	struct hp3_watch *w = ctx;
	struct ibv_qp_attr attr = {0};
	struct hp3_verbs_call c = {.kind = r->kind};
	enum ibv_qp_type type;

	if (size < sizeof(*r))
		return 0;
	memcpy(&attr, r->attr, offsetof(struct ibv_qp_attr, rate_limit));
	memcpy(&c.qpn, r->qp + offsetof(struct ibv_qp, qp_num), sizeof(c.qpn));
	memcpy(&type, r->qp + offsetof(struct ibv_qp, qp_type), sizeof(type));
	memcpy(c.device, r->device, sizeof(c.device));
	memcpy(c.dgid, attr.ah_attr.grh.dgid.raw, sizeof(c.dgid));
	c.device[sizeof(c.device) - 1] = '\0';
	c.time_ns = r->time_ns;
	c.pid = r->pid;
	c.uid = r->uid;
	c.ret = r->ret;
	c.mask = r->mask;
	c.type = (uint8_t)type;
	c.state = (uint8_t)attr.qp_state;
	c.path_mtu = (uint8_t)attr.path_mtu;
	c.dest_qpn = attr.dest_qp_num;
	c.sq_psn = attr.sq_psn;
	c.rq_psn = attr.rq_psn;
	c.global = attr.ah_attr.is_global != 0;
	c.port = attr.ah_attr.port_num;
	c.sgid_index = attr.ah_attr.grh.sgid_index;
	hp3_processes_add(w, c.pid);
	hp3_watch_call(w, &c);
	return 0;
}

static int attach_at(
	struct copy *c, struct bpf_program *prog, bool end, const char *path, uint64_t offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = end);
	struct bpf_link *l = bpf_program__attach_uprobe_opts(prog, -1, path, offset, &opts);

	if (l == NULL)
		return -errno;
	c->link[c->n_links++] = l;
	return 0;
}

/* Attaches to the functions of a file. */
struct image {
	const char *path;
	uint8_t *bytes;
	size_t size;
};

/*
 * Attaches to the latest version of a function: older versions call it (rdma-core's compat-1_0.c).
 */
static int attach_function(struct copy *c, const struct bpf_library *bpf, const struct image *file,
	const char *name, struct bpf_program *begin)
{
	struct hp3_elf_symbol s[VERSIONS_MAX];
	int n = hp3_elf_symbols(file->bytes, file->size, name, s, VERSIONS_MAX), i = 0, err;

	while (i < n && !s[i].latest)
		i++;
	if (i >= n)
		return n < 0 ? n : -ENOENT;
	/* Attaches the end first, so that each call with a begin also has an end. */
	err = attach_at(c, bpf->progs.call_end, true, file->path, s[i].offset);
	return err < 0 ? err : attach_at(c, begin, false, file->path, s[i].offset);
}

static int read_all(int fd, struct image *file)
{
	size_t n = 0;

	file->bytes = malloc(file->size + 1);
	if (file->bytes == NULL)
		return -ENOMEM;
	while (n < file->size) {
		ssize_t got = pread(fd, file->bytes + n, file->size - n, (off_t)n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break; /* the file was truncated */
		n += (size_t)got;
	}
	file->size = n;
	return 0;
}

static void detach_copy(struct copy *c)
{
	while (c->n_links > 0)
		bpf_link__destroy(c->link[--c->n_links]);
}

int hp3_watch_library_attach(struct hp3_watch *w, const struct hp3_file *f)
{
	struct hp3_watch_library *l = w->library;
	struct copy *c = &l->copies[l->n];
	struct image file = {.path = f->path};
	struct stat st;
	int err;

	if (fstat(f->fd, &st) < 0)
		return -errno;
	for (unsigned i = 0; i < l->n; i++) {
		if (l->copies[i].dev == st.st_dev && l->copies[i].ino == st.st_ino)
			return 0;
	}
	if (l->n == COPIES_MAX)
		return -ENOSPC;
	*c = (struct copy){.dev = st.st_dev, .ino = st.st_ino};
	file.size = (size_t)st.st_size;
	err = read_all(f->fd, &file);
	if (err == 0)
		err = attach_function(c, l->bpf, &file, "ibv_modify_qp", l->bpf->progs.modify_qp);
	if (err == 0)
		err = attach_function(c, l->bpf, &file, "ibv_destroy_qp", l->bpf->progs.destroy_qp);
	free(file.bytes);
	if (err < 0) {
		detach_copy(c);
		return err;
	}
	l->n++;
	return 1;
}

static int attach_or_report(struct hp3_watch *w, const char *path)
{
	struct hp3_file f;
	const char *why;
	int err = hp3_file_open(path, &f, &why);

	if (err == 0) {
		err = hp3_watch_library_attach(w, &f);
		hp3_file_close(&f);
	}
	if (err == -ELIBACC)
		hp3_watch_notice(&w->o,
			"queue-pair setup is not watched in %s: %s: it is not touched", path, why);
	else if (err == -ENOENT)
		hp3_watch_notice(&w->o,
			"queue-pair setup is not watched in %s: no such file, or it has no "
			"ibv_modify_qp; name the libibverbs in use with libraries=",
			path);
	else if (err < 0)
		hp3_watch_notice(&w->o, "queue-pair setup is not watched in %s: %s", path,
			hp3_watch_bpf_error(err, false));
	return err < 0 ? err : 0;
}

/* Watches the copy that the loader finds for this host's programs. */
static int attach_default(struct hp3_watch *w)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;
	int err = -ENOENT;

	if (lib != NULL && dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0)
		err = attach_or_report(w, map->l_name);
	else
		hp3_watch_notice(&w->o, "queue-pair setup is not watched in libibverbs: the loader "
					"finds none; name the copy in use with libraries=");
	if (lib != NULL)
		dlclose(lib);
	return err;
}

static int attach_all(struct hp3_watch *w)
{
	char *list, *save = NULL;
	int err = 0;

	if (w->o.libraries == NULL || *w->o.libraries == '\0')
		return attach_default(w);
	list = strdup(w->o.libraries);
	if (list == NULL)
		return -ENOMEM;
	for (char *s = strtok_r(list, ",", &save); s != NULL && err == 0;
		s = strtok_r(NULL, ",", &save))
		err = attach_or_report(w, s);
	free(list);
	return err;
}

static int load_programs(struct hp3_watch_library *l)
{
	l->bpf = bpf_library__open();
	if (l->bpf == NULL)
		return -errno;
	l->bpf->rodata->device_name_at = offsetof(struct ibv_device, name);
	l->bpf->rodata->attr_size = offsetof(struct ibv_qp_attr, rate_limit);
	return bpf_library__load(l->bpf);
}

int hp3_watch_library_open(struct hp3_watch *w)
{
	int err = -ENOMEM;

	w->library = calloc(1, sizeof(*w->library));
	if (w->library == NULL)
		return err;
	err = load_programs(w->library);
	if (err == 0) {
		w->lost_records = &w->library->bpf->bss->lost;
		w->ring = ring_buffer__new(
			bpf_map__fd(w->library->bpf->maps.records), on_library_record, w, NULL);
		err = w->ring != NULL ? 0 : -errno;
	}
	if (err < 0)
		hp3_watch_notice(&w->o, "queue-pair setup is not watched in libibverbs: %s",
			hp3_watch_bpf_error(err, true));
	else
		err = attach_all(w);
	if (err < 0) {
		ring_buffer__free(w->ring);
		w->ring = NULL;
		hp3_watch_library_close(w->library);
		w->library = NULL;
	}
	return err;
}

void hp3_watch_library_close(struct hp3_watch_library *l)
{
	if (l == NULL)
		return;
	for (unsigned i = 0; i < l->n; i++)
		detach_copy(&l->copies[i]);
	bpf_library__destroy(l->bpf);
	free(l);
}
