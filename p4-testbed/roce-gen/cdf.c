/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cdf.h"
#include "requester.h"

#define TEXT_MAX 256

static int add(struct gen_cdf *c, double bytes, double share)
{
	double *b = realloc(c->bytes, (c->n + 1) * sizeof(*b)), *s;

	if (b == NULL)
		return -ENOMEM;
	c->bytes = b;
	s = realloc(c->share, (c->n + 1) * sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	c->share = s;
	c->bytes[c->n] = bytes;
	c->share[c->n++] = share;
	return 0;
}

static const char *take_line(struct gen_cdf *c, char *line)
{
	double bytes, share;
	int end = 0;

	line[strcspn(line, "#\n")] = '\0';
	if (line[strspn(line, " \t\r")] == '\0')
		return NULL;
	if (sscanf(line, "%lf %lf %n", &bytes, &share, &end) != 2 || line[end] != '\0')
		return "write two numbers: bytes, and the share of messages up to that size";
	if (!(bytes >= 0 && bytes <= GEN_LEN_MAX))
		return "sizes are 0 to 1073741824 bytes";
	if (!(share >= 0 && share <= 100))
		return "shares are 0 to 100 percent, or 0 to 1";
	if (c->n > 0 && (bytes < c->bytes[c->n - 1] || share < c->share[c->n - 1]))
		return "sizes and shares must not become less from line to line";
	return add(c, bytes, share) == 0 ? NULL : "out of memory";
}

int gen_cdf_load(struct gen_cdf *c, const char *path)
{
	char line[TEXT_MAX];
	const char *bad = NULL;
	FILE *f = fopen(path, "r");
	unsigned number = 0;
	double whole;

	*c = (struct gen_cdf){0};
	if (f == NULL) {
		int err = errno;

		fprintf(stderr, "roce-gen: %s: %s: check the path of --cdf\n", path, strerror(err));
		return -err;
	}
	while (bad == NULL && fgets(line, sizeof(line), f) != NULL) {
		number++;
		bad = take_line(c, line);
	}
	fclose(f);
	if (bad == NULL && (c->n < 2 || (c->share[c->n - 1] != 100 && c->share[c->n - 1] != 1)))
		bad = "the last line must reach 100 percent (or 1)";
	if (bad != NULL) {
		fprintf(stderr, "roce-gen: %s:%u: %s\n", path, number, bad);
		gen_cdf_free(c);
		return -EINVAL;
	}
	whole = c->share[c->n - 1];
	for (uint32_t i = 0; i < c->n; i++)
		c->share[i] /= whole;
	return 0;
}

void gen_cdf_free(struct gen_cdf *c)
{
	free(c->bytes);
	free(c->share);
	*c = (struct gen_cdf){0};
}

double gen_cdf_mean(const struct gen_cdf *c)
{
	double sum = c->bytes[0] * c->share[0];

	for (uint32_t i = 1; i < c->n; i++)
		sum += (c->bytes[i] + c->bytes[i - 1]) / 2 * (c->share[i] - c->share[i - 1]);
	return sum;
}

uint32_t gen_cdf_size(const struct gen_cdf *c, double u)
{
	uint32_t i = 0;
	double from, width, size;

	while (i + 1 < c->n && c->share[i] <= u)
		i++;
	if (i == 0) {
		size = c->bytes[0];
	} else {
		from = c->share[i - 1];
		width = c->share[i] - from;
		size = c->bytes[i - 1];
		if (width > 0)
			size += (c->bytes[i] - c->bytes[i - 1]) * (u - from) / width;
	}
	return size < 1 ? 1 : (uint32_t)llround(size);
}
