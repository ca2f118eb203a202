/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

int main(int argc, char **argv)
{
	static struct gen_options options;
	int code = gen_options_parse(&options, argc, argv);

	return code >= 0 ? code : gen_run(&options);
}
