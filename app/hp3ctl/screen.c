/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal of watch: as many columns and rows as fit its current size. */
#include <curses.h>
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/watch.h"

#define GAP           1
#define FLOW_LEAST    20
#define DECISION      "LAST DECISION"
#define DECISION_MIN  16
#define DECISION_FULL 48
#define HELP          "q quit  < > sort by  r reverse  / filter  j k up down"

/* Columns by priority: if there is no room for all, the first are shown. */
static const char *const wanted[] = {
	"rate", "rtt", "marked", "state", "port", "moves", "path", "in_flight", "idle", "home"};
#define NICE   7u /* columns from here on are shown only if the decision fits in full */
#define ID     4u /* the id gets its full width before column ID is added */
#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

int hp3ctl_screen_open(void)
{
	static SCREEN *screen;

	if (!screen)
		screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -1;
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(25);
	return 0;
}

void hp3ctl_screen_close(void)
{
	endwin();
}

int hp3ctl_screen_key(int timeout_ms)
{
	int key;

	timeout(timeout_ms);
	key = getch();
	switch (key) {
	case KEY_LEFT:
		return HP3CTL_KEY_LEFT;
	case KEY_RIGHT:
		return HP3CTL_KEY_RIGHT;
	case KEY_UP:
		return HP3CTL_KEY_UP;
	case KEY_DOWN:
		return HP3CTL_KEY_DOWN;
	case KEY_BACKSPACE:
	case '\b':
		return 127;
	case KEY_ENTER:
	case '\r':
		return '\n';
	default:
		return key;
	}
}

struct layout {
	int flow, decision; /* widths */
	unsigned column[WANTED], n;
};

static int width_of(unsigned column)
{
	int w = hp3ctl_columns[column].width;

	return w < 0 ? -w : w;
}

static struct layout lay_out(const struct hp3ctl_view *v)
{
	struct layout l = {.flow = FLOW_LEAST};
	int left, longest = FLOW_LEAST;
	json_t *flow;
	size_t i;

	json_array_foreach (v->flows, i, flow) {
		int n = (int)json_string_length(json_object_get(flow, "flow"));

		longest = n > longest ? n : longest;
	}
	left = COLS - l.flow;
	for (unsigned k = 0; k < WANTED; k++) {
		unsigned column = hp3ctl_column(wanted[k]);
		int decision = k < NICE ? 0 : DECISION_FULL + GAP;

		if (left < width_of(column) + GAP + decision)
			break;
		left -= width_of(column) + GAP;
		l.column[l.n++] = column;
		if (k + 1 == ID && longest > l.flow) {
			int more = longest - l.flow < left ? longest - l.flow : left;

			l.flow += more;
			left -= more;
		}
	}
	l.decision = left - GAP >= DECISION_MIN ? left - GAP : 0;
	return l;
}

/* If an id is too long, shows its end, which differs most between flows. */
static void put_flow(int y, int width, const char *id)
{
	int n = (int)strlen(id);

	if (n <= width)
		mvprintw(y, 0, "%-*s", width, id);
	else
		mvprintw(y, 0, "<%s", id + n - width + 1);
}

static void draw_head(const struct hp3ctl_view *v, const struct layout *l, int y)
{
	int x = l->flow;

	attron(A_BOLD);
	put_flow(y, l->flow, "FLOW");
	for (unsigned i = 0; i < l->n; i++) {
		const struct hp3ctl_column *c = &hp3ctl_columns[l->column[i]];

		if (l->column[i] == v->sort)
			attron(A_UNDERLINE);
		mvprintw(y, x + GAP, "%*s", c->width, c->title);
		attroff(A_UNDERLINE);
		x += width_of(l->column[i]) + GAP;
	}
	if (l->decision)
		mvprintw(y, x + GAP, "%.*s", l->decision, DECISION);
	attroff(A_BOLD);
}

static void draw_flow(const struct hp3ctl_view *v, const struct layout *l, int y, json_t *flow)
{
	char text[HP3CTL_CELL_MAX];
	int x = l->flow;

	put_flow(y, l->flow, json_string_value(json_object_get(flow, "flow")));
	for (unsigned i = 0; i < l->n; i++) {
		hp3ctl_cell(l->column[i], flow, text);
		mvprintw(y, x + GAP, "%*.*s", hp3ctl_columns[l->column[i]].width,
			width_of(l->column[i]), text);
		x += width_of(l->column[i]) + GAP;
	}
	if (!l->decision)
		return;
	hp3ctl_decision(v, flow, text, sizeof(text));
	mvprintw(y, x + GAP, "%.*s", l->decision, text);
}

static void draw_title(const struct hp3ctl_view *v, unsigned shown)
{
	char text[512];

	snprintf(text, sizeof(text), "hp3 mode %s, %zu flows%s%s, sorted by %s%s", v->mode,
		json_array_size(v->flows), *v->filter ? " with " : "", v->filter,
		hp3ctl_columns[v->sort].name, v->reverse ? ", reversed" : "");
	if (shown < json_array_size(v->flows)) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "; %u to %u", v->top + 1, v->top + shown);
	}
	attron(A_REVERSE);
	mvprintw(0, 0, "%-*.*s", COLS, COLS, text);
	attroff(A_REVERSE);
}

static void draw_foot(const struct hp3ctl_view *v)
{
	char text[HP3CTL_ERROR_MAX + HP3CTL_FILTER_MAX];

	if (v->typing)
		snprintf(text, sizeof(text), "filter: %s_", v->typed);
	else
		snprintf(text, sizeof(text), "%s", *v->error ? v->error : HELP);
	attron(*v->error && !v->typing ? A_BOLD : A_DIM);
	mvprintw(LINES - 1, 0, "%.*s", COLS - 1, text);
	attroff(A_BOLD | A_DIM);
}

void hp3ctl_screen_draw(struct hp3ctl_view *v)
{
	size_t n = json_array_size(v->flows);
	unsigned rows = LINES > 3 ? (unsigned)LINES - 3 : 0, shown = 0;
	struct layout l = lay_out(v);

	if (v->top + rows > n)
		v->top = n > rows ? (unsigned)(n - rows) : 0;
	erase();
	for (; shown < rows && v->top + shown < n; shown++)
		draw_flow(v, &l, 2 + (int)shown, json_array_get(v->flows, v->top + shown));
	if (LINES > 2)
		draw_head(v, &l, 1);
	draw_title(v, shown);
	if (LINES > 1)
		draw_foot(v);
	refresh();
}
