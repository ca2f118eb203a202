/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/record/audit.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <systemd/sd-journal.h>

#define FIELDS_MAX 32

bool hp3_journal_is_stderr(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == inode;
}

static char *field_of(const char *name, const json_t *value)
{
	char *text = json_is_string(value) ? strdup(json_string_value(value))
					   : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	char *field = NULL;

	if (text && asprintf(&field, "HP3_%s=%s", name, text) < 0)
		field = NULL;
	free(text);
	for (char *c = field; c && *c != '='; c++)
		*c = (char)toupper((unsigned char)*c);
	return field;
}

static void add_field(struct iovec *fields, int *n, char *field)
{
	if (field)
		fields[(*n)++] = (struct iovec){.iov_base = field, .iov_len = strlen(field)};
}

int hp3_journal_send(int priority, const char *message, const json_t *what)
{
	struct iovec fields[FIELDS_MAX];
	const char *name;
	json_t *value;
	char *text;
	int n = 0, rc;

	add_field(fields, &n, asprintf(&text, "MESSAGE=%s", message) < 0 ? NULL : text);
	add_field(fields, &n, asprintf(&text, "PRIORITY=%d", priority) < 0 ? NULL : text);
	json_object_foreach ((json_t *)what, name, value)
		if (n < FIELDS_MAX)
			add_field(fields, &n, field_of(name, value));
	rc = sd_journal_sendv(fields, n);
	while (n > 0)
		free(fields[--n].iov_base);
	return rc;
}
