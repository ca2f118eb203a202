/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of files: the configuration, and the control socket's directory. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/key_file.h"
#include "engine/policy.h"

void hp3_check_config(struct hp3_doctor *d)
{
	if (d->cfg != NULL)
		return;
	for (unsigned i = 0; d->errors != NULL && i < d->errors->count; i++) {
		hp3_find(d, "%s", d->errors->list[i].text);
		if (access(d->file, F_OK) < 0)
			hp3_fix(d, "hp3d --dump-config > %s, and name the two ports in it",
				HP3_SHELL_QUOTE(d->file));
		else if (access(d->file, R_OK) < 0)
			hp3_fix(d, "sudo hp3ctl doctor --config %s", HP3_SHELL_QUOTE(d->file));
		else
			hp3_fix(d, "hp3d --check-config %s", HP3_SHELL_QUOTE(d->file));
	}
}

void hp3_check_secret(struct hp3_doctor *d)
{
	struct stat st;

	if (d->cfg == NULL || !hp3_is_key_text(d->cfg->probes.probe_key) || d->file == NULL ||
		stat(d->file, &st) < 0 || (st.st_mode & (st.st_gid == 0 ? 037 : 077)) == 0)
		return;
	hp3_find(d, "%s has a probe_key, and its mode is %04o: other users can read or change it",
		d->file, st.st_mode & 07777);
	hp3_fix(d, "chmod 600 %s", HP3_SHELL_QUOTE(d->file));
}

void hp3_check_no_key(struct hp3_doctor *d)
{
	if (d->cfg == NULL || d->cfg->probes.keys != HP3_KEYS_OFF)
		return;
	hp3_find(d, "[probes] keys = off: what peers report is ignored, and nothing is sprayed");
	hp3_fix(d, "remove keys = off from hp3.ini");
}

void hp3_check_spray_probes(struct hp3_doctor *d)
{
	uint8_t probe = d->cfg != NULL ? d->cfg->engine.words.probe : HP3_PROBE_MODE_AUTO;

	if ((probe != HP3_PROBE_MODE_OFF && probe != HP3_PROBE_MODE_STANDARD) ||
		d->cfg->probes.keys == HP3_KEYS_OFF) /* the check no-key reports that */
		return;
	for (uint32_t i = 0; i < d->cfg->n_rails; i++) {
		if (hp3_config_rfr_mode(d->cfg, i) != HP3_SPRAY_AUTO)
			continue;
		hp3_find(d, "[rail.%s] [rfr] mode = auto sprays nothing with [ppp] probe = %s",
			d->cfg->rails[i].name, hp3_policy_probes[probe]);
		hp3_fix(d, "set [ppp] probe = auto, or [rfr] mode = move");
	}
}

void hp3_check_audit(struct hp3_doctor *d)
{
	char dir[sizeof(d->cfg->log.audit)], *end;
	struct stat st;

	if (d->cfg == NULL || strcmp(d->cfg->log.audit, "off") == 0)
		return;
	snprintf(dir, sizeof(dir), "%s", d->cfg->log.audit);
	end = strrchr(dir, '/');
	end[end == dir] = '\0'; /* "/" stays */
	if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
		return;
	hp3_find(d, "[log] audit = %s: there is no directory %s", d->cfg->log.audit, dir);
	hp3_fix(d, "mkdir -p %s, or set audit = off", HP3_SHELL_QUOTE(dir));
}

/* The existing part of a path. */
static void cut_to_existing(char *path)
{
	char *end;

	while (access(path, F_OK) < 0 && (end = strrchr(path, '/')) != NULL && end != path)
		*end = '\0';
}

void hp3_check_run_directory(struct hp3_doctor *d)
{
	char dir[sizeof(d->cfg->control.socket)];
	struct stat st;

	if (d->cfg == NULL)
		return;
	snprintf(dir, sizeof(dir), "%s", d->cfg->control.socket);
	*strrchr(dir, '/') = '\0';
	cut_to_existing(dir);
	if (*dir == '\0')
		strcpy(dir, "/");
	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
		hp3_find(d, "[control] socket = %s: %s is no directory", d->cfg->control.socket,
			dir);
		hp3_fix(d, "rm %s, or set socket = to another place", HP3_SHELL_QUOTE(dir));
	} else if (access(dir, W_OK | X_OK) < 0) {
		hp3_find(d, "[control] socket = %s: cannot write to %s: %s", d->cfg->control.socket,
			dir, strerror(errno));
		hp3_fix(d, "start hp3d as root, or set socket = to a place that can be written");
	}
}
