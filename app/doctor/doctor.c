/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/doctor/doctor.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"
#include "config/devargs.h"

#define HP3_CHECK(sym, id, severity, when, about, why)                                             \
	{id, HP3_##severity, when, about, why, .run = hp3_check_##sym},
#define HP3_PORT_CHECK(sym, id, severity, when, about, why)                                        \
	{id, HP3_##severity, when, about, why, .run_port = hp3_check_##sym},
#define HP3_RDMA_CHECK(sym, id, severity, when, about, why)                                        \
	{id, HP3_##severity, when, about, why, .run_rdma = hp3_check_##sym},
const struct hp3_check hp3_checks[] = {
#include "app/doctor/checks.def"
};
#undef HP3_CHECK
#undef HP3_PORT_CHECK
#undef HP3_RDMA_CHECK
const unsigned hp3_n_checks = sizeof(hp3_checks) / sizeof(hp3_checks[0]);

const char *hp3_severity_name(enum hp3_severity s)
{
	static const char *const names[] = {
		[HP3_INFO] = "info", [HP3_WARNING] = "warning", [HP3_ERROR] = "error"};

	return names[s];
}

void hp3_find(struct hp3_doctor *d, const char *fmt, ...)
{
	struct hp3_finding *f;
	va_list ap;
	int n = 0;

	if (d->n == HP3_FINDINGS_MAX)
		d->n--; /* drops the latest, so that hp3_fix() has a finding to set */
	f = &d->found[d->n++];
	*f = (struct hp3_finding){.check = d->check};
	if (d->port != NULL)
		n = snprintf(f->what, sizeof(f->what), "[rail.%s] %s", d->port->rail->name,
			d->port->side);
	va_start(ap, fmt);
	vsnprintf(f->what + n, sizeof(f->what) - (size_t)n, fmt, ap);
	va_end(ap);
	hp3_plain(f->what);
}

void hp3_fix(struct hp3_doctor *d, const char *fmt, ...)
{
	struct hp3_finding *f = &d->found[d->n - 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->fix, sizeof(f->fix), fmt, ap);
	va_end(ap);
	hp3_plain(f->fix);
}

static void each_port(struct hp3_doctor *d)
{
	for (uint32_t i = 0; d->cfg != NULL && i < 2 * d->cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &d->cfg->rails[i / 2];
		struct hp3_port p = {.rail = r,
			.side = i % 2 == 0 ? "rnic" : "net",
			.devargs = i % 2 == 0 ? r->rnic : r->net};
		char name[HP3_CONFIG_DEVARGS_MAX];

		hp3_devargs_driver(p.devargs, p.driver, sizeof(p.driver));
		p.af_packet = strcmp(p.driver, "net_af_packet") == 0;
		p.named = hp3_devargs_interface(p.devargs, name, sizeof(name));
		errno = ENODEV;
		if (p.named)
			p.there = d->host->interface(name, &p.itf);
		p.unknown = p.named && !p.there && errno != ENODEV;
		if (p.named && !p.there)
			snprintf(p.itf.name, sizeof(p.itf.name), "%.*s", IFNAMSIZ - 1, name);
		d->port = &p;
		d->check->run_port(d, &p);
		d->port = NULL;
	}
}

void hp3_doctor_run(struct hp3_doctor *d, enum hp3_check_when when)
{
	d->n = 0;
	for (int severity = HP3_ERROR; severity >= HP3_INFO; severity--) {
		for (unsigned i = 0; i < hp3_n_checks; i++) {
			const struct hp3_check *c = &hp3_checks[i];

			if ((int)c->severity != severity || (c->when & when) != (unsigned)when)
				continue;
			d->check = c;
			if (c->run != NULL)
				c->run(d);
			else if (c->run_port != NULL)
				each_port(d);
			else
				hp3_each_rdma_port(d, c->run_rdma);
		}
	}
}

unsigned hp3_doctor_count(const struct hp3_doctor *d, enum hp3_severity at_least)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n; i++)
		n += d->found[i].check->severity >= at_least;
	return n;
}

unsigned hp3_doctor_report(
	const struct hp3_config *cfg, const char *file, enum hp3_check_when when, FILE *out)
{
	static struct hp3_doctor d; /* large */
	unsigned errors;

	d = (struct hp3_doctor){.host = &hp3_host, .cfg = cfg, .file = file};
	hp3_doctor_run(&d, when);
	errors = hp3_doctor_count(&d, HP3_ERROR);
	for (unsigned i = 0; i < d.n; i++) {
		const struct hp3_finding *f = &d.found[i];

		if (f->check->severity >= (errors > 0 ? HP3_ERROR : HP3_WARNING))
			fprintf(out, "hp3d: %s; %s\n", f->what, f->fix);
	}
	return errors;
}
