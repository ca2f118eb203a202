/* SPDX-License-Identifier: BSD-3-Clause */
/* Files whose code may be watched: which are refused, and that they cannot be exchanged in between.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <cmocka.h>
#include <bpf/libbpf.h>
#include "app/watch/file.h"
#include "app/watch/internal.h"
#include "app/watch/watch.h"
#include "base/plain.h"
#include "elf_file.h"

#define SECONDS 20 /* for a test, before it counts as hung */

static struct {
	char dir[64], lib[96], other[96];
	bool swap; /* at the next attachment */
	unsigned attached;
} rig;

static void write_file(const char *path, const void *data, size_t size, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int setup(void **state)
{
	snprintf(rig.dir, sizeof(rig.dir), "/tmp/hp3-watch-files-XXXXXX");
	if (geteuid() != 0 || mkdtemp(rig.dir) == NULL)
		return -1;
	snprintf(rig.lib, sizeof(rig.lib), "%s/libibverbs.so.1", rig.dir);
	snprintf(rig.other, sizeof(rig.other), "%s/other.so", rig.dir);
	rig.swap = false;
	rig.attached = 0;
	alarm(SECONDS);
	return 0;
}

static int teardown(void **state)
{
	alarm(0);
	unlink(rig.lib);
	unlink(rig.other);
	return rmdir(rig.dir);
}

/* What is said of `path`, "" if it may be watched. */
static const char *verdict(const char *path)
{
	const char *why = "";
	struct hp3_file f;
	int err = hp3_file_open(path, &f, &why);

	assert_int_equal(err, *why == '\0' ? 0 : -ELIBACC);
	hp3_file_close(&f);
	return why;
}

static void which_files_are_watched(void **state)
{
	write_file(rig.other, "x", 1, 0644);
	assert_string_equal(verdict(rig.other), "");
	assert_int_equal(symlink(rig.other, rig.lib), 0);
	assert_string_equal(verdict(rig.lib), "");
	assert_int_equal(chmod(rig.other, 0664), 0);
	assert_string_equal(verdict(rig.lib), "others than root may write it");
	assert_int_equal(chmod(rig.other, 0646), 0);
	assert_string_equal(verdict(rig.other), "others than root may write it");
	assert_int_equal(chmod(rig.other, 0644), 0);
	assert_int_equal(truncate(rig.other, HP3_FILE_BYTES_MAX + 1), 0);
	assert_string_equal(verdict(rig.other), "it is larger than 64 MiB");
	assert_int_equal(truncate(rig.other, 1), 0);
	assert_int_equal(chown(rig.other, 65534, 0), 0);
	assert_string_equal(verdict(rig.other), "it does not belong to root");
	unlink(rig.other);
	assert_int_equal(mkfifo(rig.other, 0600), 0);
	assert_string_equal(verdict(rig.other), "it is no regular file");
	assert_string_equal(verdict(rig.dir), "it is no regular file");
	assert_string_equal(verdict("/dev/null"), "it is no regular file");
}

/* What this process has mapped from `path` first. */
static struct hp3_mapped mapped(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct hp3_mapped m = {0};
	char line[4096], *at;

	while (fgets(line, sizeof(line), maps) != NULL) {
		if (hp3_file_maps_line(line, &m, &at) && strcmp(at, path) == 0)
			break;
	}
	fclose(maps);
	assert_true(m.inode != 0);
	return m;
}

static const uint8_t *map(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	p = mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	close(fd);
	return p;
}

static void another_file_than_the_process_uses(void **state)
{
	const char *why = NULL;
	struct hp3_mapped m;
	struct hp3_file f;
	size_t size;

	write_file(rig.lib, "x", 1, 0755);
	write_file(rig.other, "y", 1, 0755);
	map(rig.lib, &size);
	m = mapped(rig.lib);
	assert_int_equal(hp3_file_open_mapped("/proc/self/root", rig.lib, &m, &f, &why), 0);
	hp3_file_close(&f);
	assert_int_equal(rename(rig.other, rig.lib), 0);
	assert_int_equal(hp3_file_open_mapped("/proc/self/root", rig.lib, &m, &f, &why), -ELIBACC);
	assert_string_equal(why, "it is not the file that the process uses");
	assert_int_equal(unlink(rig.lib), 0);
	assert_int_equal(symlink("/proc/self/exe", rig.lib), 0);
	assert_int_equal(hp3_file_open_mapped("/proc/self/root", rig.lib, &m, &f, &why), -ELIBACC);
	unlink(rig.lib);
	assert_int_equal(mkfifo(rig.lib, 0600), 0);
	assert_int_equal(hp3_file_open_mapped("/proc/self/root", rig.lib, &m, &f, &why), -ELIBACC);
}

static void lines_of_maps(void **state)
{
	char lib[] = "7f0-7f1 r-xp 00001000 fd:1b 42                     /a b\x1b[2J (deleted)\n";
	char heap[] = "7f0-7f1 rw-p 00000000 00:00 0                      [heap]\n";
	char cut[] = "7f0-7f1 r-xp 00001000 fd:1b 4";
	struct hp3_mapped m;
	char *path;

	assert_true(hp3_file_maps_line(lib, &m, &path));
	assert_int_equal(m.major, 0xfd);
	assert_int_equal(m.minor, 0x1b);
	assert_int_equal(m.inode, 42);
	assert_string_equal(path, "/a b\x1b[2J (deleted)");
	assert_string_equal(hp3_plain(path), "/a b?[2J (deleted)");
	assert_false(hp3_file_maps_line(heap, &m, &path));
	assert_false(hp3_file_maps_line(cut, &m, &path));
}

/* --- the file is exchanged between look-up and attachment --- */

struct bpf_link *__real_bpf_program__attach_uprobe_opts(const struct bpf_program *prog, pid_t pid,
	const char *path, size_t offset, const struct bpf_uprobe_opts *opts);
struct bpf_link *__wrap_bpf_program__attach_uprobe_opts(const struct bpf_program *prog, pid_t pid,
	const char *path, size_t offset, const struct bpf_uprobe_opts *opts);

struct bpf_link *__wrap_bpf_program__attach_uprobe_opts(const struct bpf_program *prog, pid_t pid,
	const char *path, size_t offset, const struct bpf_uprobe_opts *opts)
{
	struct bpf_link *l;

	if (rig.swap)
		assert_int_equal(rename(rig.other, rig.lib), 0);
	rig.swap = false;
	l = __real_bpf_program__attach_uprobe_opts(prog, pid, path, offset, opts);
	rig.attached += l != NULL;
	return l;
}

static void event(void *ctx, const struct hp3_watch_event *event)
{
}

static void notice(void *ctx, const char *text)
{
	fprintf(stderr, "%s\n", text);
}

/* Read, not mapped: in a mapping are the breakpoints of whoever else watches it now. */
static uint8_t *host_library(size_t *size)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *m = NULL;
	uint8_t *copy;
	struct stat st;
	FILE *f;

	assert_true(lib != NULL && dlinfo(lib, RTLD_DI_LINKMAP, &m) == 0);
	f = fopen(m->l_name, "rb");
	assert_true(f != NULL && fstat(fileno(f), &st) == 0);
	*size = (size_t)st.st_size;
	copy = malloc(*size);
	assert_int_equal(fread(copy, 1, *size, f), *size);
	fclose(f);
	dlclose(lib);
	return copy;
}

static void exchanged_before_it_is_attached(void **state)
{
	struct hp3_watch_options o = {
		.verbs = HP3_WATCH_LIBRARY, .libraries = rig.lib, .event = event, .notice = notice};
	size_t size;
	uint8_t *bytes = host_library(&size);
	const uint8_t *watched, *victim;
	struct hp3_watch *w;
	int err;

	write_file(rig.lib, bytes, size, 0755);
	write_file(rig.other, bytes, size, 0755);
	watched = map(rig.lib, &size);
	victim = map(rig.other, &size);
	rig.swap = true;
	err = hp3_watch_open(&o, &w);
	if (err == -EPERM || err == -EACCES) {
		free(bytes);
		skip(); /* BPF is forbidden here */
	}
	assert_int_equal(err, 0);
	assert_int_equal(rig.attached, 4);
	assert_memory_equal(victim, bytes, size);
	assert_memory_not_equal(watched, bytes, size);
	hp3_watch_close(w);
	assert_memory_equal(watched, bytes, size);
	munmap((void *)watched, size);
	munmap((void *)victim, size);
	free(bytes);
}

/* --- what a watcher may --- */

/* Each thing that it can do all the same is a bit. */
static int can_do(void)
{
	struct hp3_watch_options o = {.verbs = HP3_WATCH_LIBRARY};
	char name[] = "false", *args[] = {name, NULL}, made[sizeof(rig.dir) + 8];
	int can = 0;

	if (hp3_confine(&o) < 0 || hp3_confine_more(&o) < 0)
		return 1;
	can |= open(rig.lib, O_RDONLY | O_CLOEXEC) < 0 ? 2 : 0;
	can |= open(rig.lib, O_WRONLY | O_CLOEXEC) >= 0 ? 4 : 0;
	snprintf(made, sizeof(made), "%s/new", rig.dir);
	can |= open(made, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 ? 8 : 0;
	can |= unlink(rig.other) == 0 ? 16 : 0;
	can |= truncate(rig.lib, 0) == 0 ? 32 : 0;
	can |= setuid(65534) == 0 ? 64 : 0;
	execv("/bin/false", args); /* exit code 1 */
	return can;
}

static void what_a_watcher_may(void **state)
{
	int status;
	pid_t pid;

	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 3)
		skip(); /* the kernel lacks it, or the part about truncation */
	write_file(rig.lib, "x", 1, 0644);
	write_file(rig.other, "y", 1, 0644);
	pid = fork();
	if (pid == 0)
		_exit(can_do());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(rig.other, F_OK), 0);
}

/* --- what a file says of itself --- */

static void functions_by_version(void **state)
{
	struct hp3_elf_symbol s[3];
	struct elf_file f;

	elf_file(&f);
	assert_int_equal(hp3_elf_symbols(&f, sizeof(f), "f", s, 3), 2);
	assert_string_equal(s[0].version, "OLD");
	assert_string_equal(s[1].version, "NEW");
	assert_false(s[0].latest);
	assert_true(s[1].latest);
	assert_int_equal(s[0].offset, ELF_FILE_CODE - 0x1000 + 16);
	assert_int_equal(s[1].offset, ELF_FILE_CODE - 0x1000 + 32);
	assert_int_equal(hp3_elf_symbols(&f, sizeof(f), "f", s, 1), 1);
	assert_int_equal(hp3_elf_symbols(&f, sizeof(f), "h", s, 3), 0);
	assert_int_equal(hp3_elf_symbols(&f, sizeof(f.h) - 1, "f", s, 3), -ENOEXEC);
	f.h.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(hp3_elf_symbols(&f, sizeof(f), "f", s, 3), -ENOEXEC);
}

static void the_hosts_library(void **state)
{
	struct hp3_elf_symbol s[4];
	size_t size;
	uint8_t *bytes = host_library(&size);

	assert_int_equal(hp3_elf_symbols(bytes, size, "ibv_modify_qp", s, 4), 2);
	assert_true(s[0].latest != s[1].latest);
	assert_string_equal(s[s[0].latest ? 0 : 1].version, "IBVERBS_1.1");
	assert_string_equal(s[s[0].latest ? 1 : 0].version, "IBVERBS_1.0");
	free(bytes);
}

/* A chain that goes in a circle, or backwards, ends all the same. */
static void chains_that_do_not_end(void **state)
{
	static const uint32_t next[] = {0, 1, 19, (uint32_t)-28, UINT32_MAX, INT32_MAX};
	struct hp3_elf_symbol s[3];
	struct elf_file f;

	for (unsigned i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		elf_file(&f);
		f.definitions[1].def.vd_next = next[i];
		f.versions[3] = 99;
		assert_int_equal(hp3_elf_symbols(&f, sizeof(f), "f", s, 3), 2);
		assert_string_equal(s[1].version, "");
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(which_files_are_watched),
		TEST(another_file_than_the_process_uses),
		TEST(lines_of_maps),
		TEST(exchanged_before_it_is_attached),
		TEST(what_a_watcher_may),
		TEST(functions_by_version),
		TEST(the_hosts_library),
		TEST(chains_that_do_not_end),
	};

	if (geteuid() != 0)
		return 77; /* whose files are whose cannot be told */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
