/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "config/message.h"
#include "sim/cli/cli.h"

static void find_program(const char *self, char *path, size_t size)
{
	const char *slash = strrchr(self, '/');

	snprintf(path, size, "%.*s/report/report.py", (int)(slash - self), self);
	if (access(path, X_OK) < 0)
		snprintf(path, size, "%s", HP3_SIM_REPORT);
}

int sim_report(const char *dir)
{
	char self[PATH_MAX], program[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status, ret;
	pid_t pid;

	if (n <= 0)
		return -errno;
	self[n] = '\0';
	find_program(self, program, sizeof(program));
	fflush(NULL);
	ret = posix_spawn(&pid, program, NULL, NULL,
		(char *const[]){program, self, (char *)(uintptr_t)dir, NULL}, environ);
	if (ret != 0) {
		hp3_message("hp3-sim: no report: %s: %s", program, strerror(ret));
		return -ret;
	}
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int sim_report_main(int argc, char **argv)
{
	if (argc != 2)
		return sim_usage("report needs the folder that `hp3-sim run` wrote");
	return sim_report(argv[1]) == 0 ? 0 : 1;
}
