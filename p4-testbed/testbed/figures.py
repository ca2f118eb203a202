# SPDX-License-Identifier: BSD-3-Clause
"""Figures by gnuplot: one data set, SVG for the page and PNG beside it."""
import re
import shutil
import subprocess

from .tools import Problem, plain

PANEL, MARGINS, CHAR_PX, ROW_PX = 520, 90, 6.8, 16  # pixels: a panel, what its axes take, a character of a label, its row
COLOURS = ["#0b6e99", "#d1495b", "#edae49", "#3c7d3c", "#6a4c93", "#8d6e63", "#00a3a3", "#7a7a7a"]


def quote(text):
    """Within single quotes gnuplot takes all as it is; within double ones it executes what stands in backquotes."""
    return "'" + plain(text).replace("'", "''") + "'"


def block(name, rows):
    lines = [" ".join("NaN" if v is None else f"{v:.6g}" for v in row) for row in rows] or ["NaN NaN"]
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def rows_of(marks, span, width):
    """Labels of marks stand above the frame, where no curve is: [(x, label, row)], in as few rows as hold them
    without one printing over another. A label that would leave the panel stands to the left of its line."""
    placed, ends = [], []  # of each row: the spans in pixels that are taken
    for x, label in marks:
        at, long = (x - span[0]) / (span[1] - span[0]) * width, CHAR_PX * (len(label) + 1)
        begin, end = (at - long, at) if at + long > width and at - long >= 0 else (at, at + long)
        row = next((i for i, taken in enumerate(ends) if all(end <= a or b <= begin for a, b in taken)), len(ends))
        ends[row:row + 1] = [ends[row] + [(begin, end)]] if row < len(ends) else [[(begin, end)]]
        placed.append((x, label, row, begin < at))
    return placed


class Figure:
    """Panels side by side, one for each mode, with the same axes."""

    def __init__(self, title, xlabel, ylabel, height=300):
        self.title, self.xlabel, self.ylabel, self.height = title, xlabel, ylabel, height
        self.panels, self.ymax, self.xrange, self.log_x, self.log_y, self.ymin = [], None, None, False, False, 0

    def panel(self, title, series, marks=()):
        """series: (label, [(x, y)]); marks: (x, label) vertical lines."""
        self.panels.append((title, series, marks))

    def labels(self):
        """Of each panel."""
        return [rows_of([m for m in marks if m[1]], self.xrange, PANEL - MARGINS) for _, _, marks in self.panels]

    def rows(self):
        return max([row + 1 for panel in self.labels() for _, _, row, _ in panel], default=0)

    def script(self):
        top = self.ymax
        if top is None:
            values = [y for _, series, _ in self.panels for _, pts in series for _, y in pts if y is not None]
            top = max(values + [1e-9]) * 1.12
        blocks, plots, told, rows = [], [], self.labels(), self.rows()
        for p, (title, series, marks) in enumerate(self.panels):
            plots.append(f"set title {quote(title)} noenhanced font ',13' offset 0,{rows - 0.4 if rows else 0}\nset tmargin {rows + 2.2}\n"
                         f"set yrange [{self.ymin}:{top}]\nunset arrow\nunset label")
            for x, _ in marks:
                plots.append(f"set arrow from first {x},graph 0 to first {x},graph 1 nohead dt 2 lw 1.2 lc rgb '#555555'")
            for x, label, row, left in told[p]:
                plots.append(f"set label {quote(label)} at first {x},graph 1 offset 0,{row + 0.7} {'right' if left else 'left'} "
                             "font ',10' tc rgb '#333333' noenhanced")
            curves = []
            for s, (label, pts) in enumerate(series):
                blocks.append(block(f"d{p}_{s}", pts))
                curves.append(f"$d{p}_{s} using 1:2 with lines lw 2.2 lc rgb '{COLOURS[s % len(COLOURS)]}' title {quote(label)}")
            plots.append("plot " + ", \\\n  ".join(curves or ["NaN notitle"]))
        head = (f"set multiplot layout 1,{len(self.panels)} title {quote(self.title)} noenhanced font ',15'\n"
                f"set xlabel {quote(self.xlabel)}\nset ylabel {quote(self.ylabel)}\nset grid ytics lc rgb '#dddddd'\n"
                "set border 3 lc rgb '#555555'\nset tics nomirror\nset key below horizontal samplen 2 noenhanced font ',11'\n")
        if self.xrange:
            head += f"set xrange [{self.xrange[0]}:{self.xrange[1]}]\n"
        if self.log_x:
            head += "set logscale x 10\nset format x '%g'\n"
        if self.log_y:
            head += "set logscale y 10\nset format y '%g'\n"
        return "".join(blocks) + head + "\n".join(plots) + "\nunset multiplot\n"

    def write(self, stem, name):
        """Files, and the SVG for a page: `name` begins its ids."""
        if shutil.which("gnuplot") is None:
            raise Problem("'gnuplot' is missing: apt-get install gnuplot-nox")
        width, height = max(PANEL * len(self.panels), 780), self.height + ROW_PX * self.rows()
        for ext, term in (("svg", f"svg size {width},{height} dynamic font 'Helvetica,12' background '#ffffff'"),
                          ("png", f"pngcairo size {width},{height} font 'Sans,10' background '#ffffff'")):
            script = f"set terminal {term}\nset encoding utf8\n" + self.script()
            done = subprocess.run(["gnuplot"], input=script.encode(), capture_output=True, check=False)
            if done.returncode != 0:
                raise Problem(f"gnuplot: {done.stderr.decode(errors='replace').strip()[:400]}")
            with open(f"{stem}.{ext}", "wb") as f:
                f.write(done.stdout)
        with open(stem + ".svg", encoding="utf-8") as f:
            svg = f.read()
        return re.sub(r"""(id=["']|href=["']#|url\(#)""", rf"\1{name}-", svg[svg.index("<svg"):])
