/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CLI_CLI_H
#define HP3_SIM_CLI_CLI_H
/* Commands of hp3-sim. Exit codes: 0 done, 1 failed, 2 usage. */

/* Prints `problem` (unless NULL) and the help of the current command. Returns exit code 2. */
int sim_usage(const char *problem);
/* The command line of this process, quoted for a shell. */
const char *sim_command(void);
int sim_trace_main(int argc, char **argv);
int sim_run_main(int argc, char **argv);
int sim_report_main(int argc, char **argv);
int sim_list_main(int argc, char **argv);

#endif
