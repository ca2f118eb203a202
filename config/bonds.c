/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/bonds.h"
#include <stdio.h>
#include <string.h>
#include "config/keys.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_-"
#define BLANKS     " \t"

/* Copies the next name of a list, and advances *list behind it. False: there is none. */
static bool next_name(const char **list, char *name, size_t cap)
{
	const char *at = *list + strspn(*list, BLANKS ",");
	size_t n = strcspn(at, BLANKS ",");

	snprintf(name, cap, "%.*s", (int)n, at);
	*list = at + n;
	return n > 0;
}

/* Names, separated by a comma that may have blanks around it. */
bool hp3_config_valid_names(const char *s)
{
	for (;;) {
		size_t n;

		s += strspn(s, BLANKS);
		n = strspn(s, NAME_CHARS);
		s += n;
		s += strspn(s, BLANKS);
		if (n == 0 || (*s != ',' && *s != '\0'))
			return false;
		if (*s++ == '\0')
			return true;
	}
}

#define NAME_CAP HP3_CONFIG_DEVARGS_MAX /* of a name in a list: no name of a list is cut */

static bool lists_rail(const struct hp3_config_bond *b, const char *rail)
{
	const char *list = b->rails;
	char name[NAME_CAP];

	while (next_name(&list, name, sizeof(name))) {
		if (strcmp(name, rail) == 0)
			return true;
	}
	return false;
}

static unsigned first_member(const struct hp3_config *cfg, const struct hp3_config_bond *b)
{
	const char *list = b->rails;
	char name[NAME_CAP];

	return next_name(&list, name, sizeof(name)) ? hp3_config_rail(cfg, name) : cfg->n_rails;
}

unsigned hp3_config_bond(const struct hp3_config *cfg, unsigned rail)
{
	unsigned i = 0;

	while (i < cfg->n_bonds && !lists_rail(&cfg->bonds[i], cfg->rails[rail].name))
		i++;
	return i;
}

unsigned hp3_config_lead(const struct hp3_config *cfg, unsigned rail)
{
	unsigned bond = hp3_config_bond(cfg, rail);

	return bond < cfg->n_bonds ? first_member(cfg, &cfg->bonds[bond]) : rail;
}

unsigned hp3_config_next_member(const struct hp3_config *cfg, unsigned rail)
{
	unsigned bond = hp3_config_bond(cfg, rail);
	const char *list;
	char name[NAME_CAP];

	if (bond == cfg->n_bonds)
		return rail;
	list = cfg->bonds[bond].rails;
	while (next_name(&list, name, sizeof(name))) {
		if (strcmp(name, cfg->rails[rail].name) == 0)
			break;
	}
	if (next_name(&list, name, sizeof(name)))
		return hp3_config_rail(cfg, name);
	return first_member(cfg, &cfg->bonds[bond]);
}

const char *hp3_config_flows_name(const struct hp3_config *cfg, unsigned rail)
{
	unsigned bond = hp3_config_bond(cfg, rail);

	return bond < cfg->n_bonds ? cfg->bonds[bond].name : cfg->rails[rail].name;
}

unsigned hp3_config_flows_rail(const struct hp3_config *cfg, const char *name)
{
	unsigned rail = hp3_config_rail(cfg, name);

	for (unsigned i = 0; i < cfg->n_bonds; i++) {
		if (strcmp(cfg->bonds[i].name, name) == 0)
			return first_member(cfg, &cfg->bonds[i]);
	}
	return rail < cfg->n_rails ? hp3_config_lead(cfg, rail) : rail;
}

/* --- checks --- */

static void complain_of_unknown(
	struct hp3_ini_doc *doc, const struct hp3_config *c, const char *section, const char *name)
{
	char known[HP3_CONFIG_RAILS_MAX * (sizeof(c->rails[0].name) + 2) + 1] = "";
	size_t n = 0;

	for (unsigned i = 0; i < c->n_rails; i++)
		n += (size_t)snprintf(
			known + n, sizeof(known) - n, "%s%s", i > 0 ? ", " : "", c->rails[i].name);
	hp3_ini_complain(doc, section, "rails",
		"there is no [rail.%s]: add this section, or take rails that exist: %s", name,
		n > 0 ? known : "there are none");
}

/* The bond before number `bond` that has the rail, or `bond`. */
static unsigned earlier_bond(const struct hp3_config *c, unsigned bond, const char *rail)
{
	unsigned i = 0;

	while (i < bond && !lists_rail(&c->bonds[i], rail))
		i++;
	return i;
}

static bool is_listed_before(const char *rails, const char *end, const char *rail)
{
	struct hp3_config_bond before;

	snprintf(before.rails, sizeof(before.rails), "%.*s", (int)(end - rails), rails);
	return lists_rail(&before, rail);
}

/* False: an error was reported. */
static bool check_member(
	struct hp3_ini_doc *doc, const struct hp3_config *c, unsigned bond, const char *name)
{
	unsigned rail = hp3_config_rail(c, name), other = earlier_bond(c, bond, name);
	char section[HP3_INI_NAME_MAX];

	snprintf(section, sizeof(section), "bond.%s", c->bonds[bond].name);
	if (rail == c->n_rails) {
		complain_of_unknown(doc, c, section, name);
		return false;
	}
	if (other == bond)
		return true;
	hp3_ini_complain(doc, section, "rails",
		"%s is already a rail of [bond.%s]: a rail has one bond, remove it from one of "
		"them",
		name, c->bonds[other].name);
	return false;
}

/* The mode to spray belongs to flows, which the rails share. */
static void check_alike(struct hp3_ini_doc *doc, const struct hp3_config *c, unsigned bond)
{
	unsigned lead = first_member(c, &c->bonds[bond]), rail = lead;
	char section[HP3_INI_NAME_MAX];

	snprintf(section, sizeof(section), "bond.%s", c->bonds[bond].name);
	while ((rail = hp3_config_next_member(c, rail)) != lead) {
		if (c->rails[rail].rfr_mode == c->rails[lead].rfr_mode)
			continue;
		hp3_ini_complain(doc, section, "rails",
			"[rail.%s] and [rail.%s] have different values of rfr_mode, but share "
			"their flows: give both the same value",
			c->rails[lead].name, c->rails[rail].name);
		return;
	}
}

static void check_bond(struct hp3_ini_doc *doc, const struct hp3_config *c, unsigned bond)
{
	const struct hp3_config_bond *b = &c->bonds[bond];
	char section[HP3_INI_NAME_MAX], name[NAME_CAP];
	const char *list = b->rails, *at = list;
	unsigned n = 0;

	snprintf(section, sizeof(section), "bond.%s", b->name);
	if (!hp3_ini_good(doc, section, "rails") || b->rails[0] == '\0')
		return;
	for (; next_name(&list, name, sizeof(name)); at = list, n++) {
		if (!check_member(doc, c, bond, name))
			return;
		if (is_listed_before(b->rails, at, name)) {
			hp3_ini_complain(
				doc, section, "rails", "%s is listed twice: list it once", name);
			return;
		}
	}
	if (n < 2) {
		hp3_ini_complain(doc, section, "rails",
			"a bond has two rails at least: add the rail of the other port, or remove "
			"[%s]",
			section);
		return;
	}
	check_alike(doc, c, bond);
}

void hp3_config_check_bonds(struct hp3_ini_doc *doc, const struct hp3_config *c)
{
	char section[HP3_INI_NAME_MAX];

	for (unsigned i = 0; i < c->n_bonds; i++) {
		check_bond(doc, c, i);
		if (hp3_config_rail(c, c->bonds[i].name) == c->n_rails)
			continue;
		snprintf(section, sizeof(section), "bond.%s", c->bonds[i].name);
		hp3_ini_complain(doc, section, NULL,
			"a rail has this name, too: flows and counters would have one name for "
			"both; take another name, such as [bond.bond%u]",
			i);
	}
}
