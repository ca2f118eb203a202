/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/commands.h"

int main(int argc, char **argv)
{
	struct hp3ctl ctl = {.line.fd = -1, .text[HP3CTL_SOCKET] = HP3CTL_DEFAULT_SOCKET};
	int rc;

	hp3ctl_need_memory(&ctl);
	rc = hp3ctl_run(&ctl, argc, argv);
	hp3_line_close(&ctl.line);
	if (fflush(stdout) != 0 && rc == HP3CTL_DONE) {
		fprintf(stderr, "hp3ctl: cannot write the output: %s\n", strerror(errno));
		rc = HP3CTL_FAILED;
	}
	return rc;
}
