/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/cdf.h"
#include <errno.h>
#include <string.h>

#define WHOLE 4294967296.0 /* 2^32 */

/* Parses a line. Returns NULL, or the error of the line. */
static const char *take_line(struct hp3_cdf *c, double *share, char *line, uint64_t most)
{
	double size, up_to;
	int end = 0;

	line[strcspn(line, "#\n")] = '\0';
	if (line[strspn(line, " \t\r")] == '\0')
		return NULL;
	if (c->n == HP3_CDF_POINTS)
		return "there are more lines than 1024";
	if (sscanf(line, "%lf %lf %n", &size, &up_to, &end) != 2 || line[end] != '\0')
		return "write `size_bytes cumulative_share`, two numbers";
	if (!(size >= 0 && size <= (double)most))
		return "the size is out of range";
	if (!(up_to >= 0 && up_to <= 100))
		return "shares are 0 to 100 percent, or 0 to 1";
	if (c->n > 0 && (size < (double)c->size[c->n - 1] || up_to < share[c->n - 1]))
		return "sizes and shares must not become less from line to line";
	c->size[c->n] = (uint64_t)size;
	share[c->n++] = up_to;
	return NULL;
}

int hp3_cdf_read(
	struct hp3_cdf *c, FILE *f, const char *name, uint64_t most, char *err, size_t err_size)
{
	double share[HP3_CDF_POINTS], last;
	const char *bad = NULL;
	unsigned number = 0;
	char line[256];

	c->n = 0;
	while (bad == NULL && fgets(line, sizeof(line), f) != NULL) {
		number++;
		bad = take_line(c, share, line, most);
	}
	last = c->n < 2 ? 0 : share[c->n - 1];
	if (bad == NULL && last != 100 && last != 1)
		bad = "must end at 100 percent (or 1), with two lines at least";
	if (bad == NULL && c->size[c->n - 1] == 0)
		bad = "all sizes are 0: the last line must have the largest size, 1 at least";
	if (bad != NULL) {
		snprintf(err, err_size, "%s:%u: %s (sizes up to %llu bytes)", name, number, bad,
			(unsigned long long)most);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < c->n; i++)
		c->share[i] = (uint64_t)(share[i] / last * WHOLE + 0.5);
	return 0;
}

uint64_t hp3_cdf_size(const struct hp3_cdf *c, uint32_t u)
{
	uint64_t size;
	uint32_t i = 1;

	while (i + 1 < c->n && c->share[i] <= u)
		i++;
	size = c->size[i - 1];
	if (c->share[i] > c->share[i - 1] && u >= c->share[i - 1])
		size += (uint64_t)((unsigned __int128)(c->size[i] - c->size[i - 1]) *
				   (u - c->share[i - 1]) / (c->share[i] - c->share[i - 1]));
	return size > 0 ? size : 1;
}

uint64_t hp3_cdf_mean(const struct hp3_cdf *c)
{
	unsigned __int128 sum = (unsigned __int128)2 * c->size[0] * c->share[0];

	for (uint32_t i = 1; i < c->n; i++)
		sum += (unsigned __int128)(c->size[i] + c->size[i - 1]) *
		       (c->share[i] - c->share[i - 1]);
	return sum >> 33 > 0 ? (uint64_t)(sum >> 33) : 1; /* no size is below 1 */
}
