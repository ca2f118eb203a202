/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim/cli/report.h"

/* Two bars per balancer: main metric (average) and its p99. */
int sim_figure(
	const char *dir, const char *name, const char *title, const struct sim_mean *m, uint32_t n)
{
	FILE *g = popen("gnuplot 2>/dev/null", "w");
	int status;

	if (g == NULL)
		return -EIO;
	fprintf(g, "$data << EOD\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_row *r = &m[i].mean;

		fprintf(g, "\"%s\" %f %f\n", m[i].lb, sim_metric(r),
			r->jct_us > 0 ? r->jct_p99_us : r->p99);
	}
	fprintf(g,
		"EOD\n"
		"set style data histogram\nset style histogram clustered gap 1\n"
		"set style fill solid 0.8\nset yrange [0:*]\nset grid ytics\n"
		"set key outside right top\nset xtics rotate by -30 noenhanced\n"
		"set title \"%s\" noenhanced\nset ylabel \"%s\"\n",
		title, n > 0 && m[0].mean.jct_us > 0 ? "JCT, us" : "FCT slowdown");
	for (unsigned png = 0; png < 2; png++)
		fprintf(g,
			"set terminal %s size 800,320 font \"sans,11\" background \"white\"\n"
			"set output \"%s/%s.%s\"\n"
			"plot $data using 2:xtic(1) title \"average\" lc rgb \"#5588cc\", "
			"$data using 3 title \"p99\" lc rgb \"#cc7755\"\n",
			png ? "png" : "svg", dir, name, png ? "png" : "svg");
	status = pclose(g);
	if (status != 0)
		fprintf(stderr, "hp3-sim: no figures: gnuplot failed (apt install gnuplot-nox)\n");
	return status == 0 ? 0 : -EIO;
}
