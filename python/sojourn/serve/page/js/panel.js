// A panel: uPlot behind one component, fed with as many cells as it has pixels. A is a solid line, B is dashed, what was
// before is grey; parts of a sum are patterns of shade with their names beside them.

import uPlot from "../vendor/uplot.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./view.js";
import { along, curvesOf, packetsSeen, rows, total, words } from "./picture.js";

const colours = new Map(); // those of the present theme: to ask for one makes the browser work out all styles
let coloursOf = null;

/** A colour of the style sheet. */
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}

/** A round number above. */
function ceiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

const largest = (curves) => {
  let most = 0;
  for (const values of curves) for (const value of values) if (value > most) most = value;
  return most;
};

/** Input of uPlot: data, and a description of each curve. */
function drawing(panel, a, b, ghost) {
  const [x, curves] = curvesOf(panel, a);
  const data = [x];
  const series = [{}];
  const put = (values, look) => {
    data.push(values);
    series.push({ spanGaps: false, points: { show: false }, ...look });
  };
  const beside = (run, look) => {
    const other = curvesOf(panel, run);
    const shown = panel.stacked ? [total(other)[1]] : other[1].map(([, values]) => values);
    for (const values of shown) put(along(x, other[0], values), look);
  };
  const before = () => ghost && beside(ghost, { stroke: colour("ghost"), width: 1.2 });
  if (panel.stacked) {
    // The sum of all first, then without the last one, …: each covers what is below it.
    const sums = [];
    let below = x.map(() => 0);
    for (const [, values] of curves) {
      below = below.map((sum, row) => (values[row] == null ? null : (sum ?? 0) + values[row]));
      sums.push(below);
    }
    for (let part = curves.length - 1; part >= 0; part--) {
      put(sums[part], { stroke: colour(`cause-${curves[part][2]}`), fill: colour(`cause-${curves[part][2]}`), width: 0.5 });
    }
    before();
  } else {
    before();
    curves.forEach(([, values], number) => put(values, { stroke: colour(`line-${number % 4}`), width: 1.6 }));
  }
  if (b) beside(b, { stroke: colour("line-b"), width: 1.8, dash: [7, 4] });
  return { data, series };
}

/** Draws drops as ticks along the upper edge. */
const ticks = (run) => (plot) => {
  const { ctx, bbox } = plot;
  if (!run?.ticks?.rows) return;
  const [at, , , marked] = run.ticks.columns;
  ctx.save();
  ctx.strokeStyle = colour("ink");
  ctx.beginPath();
  let last = -1;
  for (let row = 0; row < at.length; row++) {
    const x = Math.round(plot.valToPos(at[row] / 1000, "x", true)) + 0.5;
    if (x === last || x < bbox.left || x > bbox.left + bbox.width) continue;
    last = x;
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + (marked[row] ? 4 : 8) * devicePixelRatio);
  }
  ctx.stroke();
  ctx.restore();
};

/** Draws single packets: a bar from when each was sent to when it arrived, at the height of its delay; a cross below for a lost one. */
const packets = (run) => (plot) => {
  const { ctx, bbox } = plot;
  const seen = packetsSeen(run, bbox.width / devicePixelRatio);
  if (!seen.length) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const size = 4 * devicePixelRatio;
  for (const { from, until, delay, fate } of seen) {
    const [x, end] = [from, until].map((at) => plot.valToPos(at, "x", true));
    ctx.strokeStyle = colour(fate === "in time" ? "line-2" : "line-1");
    ctx.lineWidth = 3 * devicePixelRatio;
    ctx.setLineDash(fate === "late" ? [size, size] : []);
    ctx.beginPath();
    if (delay === null) {
      const y = bbox.top + bbox.height - 2 * size;
      for (const side of [-1, 1]) {
        ctx.moveTo(x - size, y - side * size);
        ctx.lineTo(x + size, y + side * size);
      }
    } else {
      const y = plot.valToPos(delay, "y", true);
      ctx.moveTo(x, y);
      ctx.lineTo(Math.max(end, x + devicePixelRatio), y);
    }
    ctx.stroke();
  }
  ctx.restore();
};

/** One panel with its words and its table. */
export function Panel({ panel, a, b, ghost, theme, cursor, onCursor, onZoom }) {
  const place = useRef(null);
  const plot = useRef(null);
  const shown = useRef({ most: 0 }); // the state of the plot, for its callbacks while it draws
  const [open, unfold] = useState(false);
  const name = panel.name ? panel.name(a) : panel.title;

  // Before the frame that shows the numbers of the run, and not after it.
  useLayoutEffect(() => {
    if (coloursOf !== theme) colours.clear();
    coloursOf = theme;
    const { data, series } = drawing(panel, a, b, ghost);
    // The scale grows at once and shrinks only when a panel is made anew.
    const most = ceiling(largest(data.slice(1)));
    const known = shown.current;
    known.most = known.from === a.from && known.until === a.until ? Math.max(known.most, most) : most;
    [known.from, known.until, known.run] = [a.from, a.until, a];
    // Curves that look as before only get new values: a plot is not made anew for each move of a slider. A resize is a new theme.
    const look = JSON.stringify([theme, devicePixelRatio, series.map(({ stroke, fill, dash }) => [stroke, fill, dash])]);
    if (plot.current && known.look === look) {
      plot.current.setData(data);
      return;
    }
    known.look = look;
    const width = Math.max(place.current.clientWidth, 200);
    const axis = { stroke: colour("ink"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid") } };
    const draw = { queue: [ticks], delay: [packets] }[panel.key] ?? [];
    plot.current?.destroy();
    plot.current = new uPlot(
      {
        width, height: 190, series, legend: { show: false },
        cursor: { sync: { key: "time" }, points: { show: false }, drag: { x: true, y: false, setScale: false } },
        scales: { x: { time: false, range: () => [known.from, known.until] }, y: { range: () => [0, known.most] } },
        axes: [{ ...axis, size: 34, values: (_, seconds) => seconds.map((at) => `${at} s`) }, { ...axis, size: 56 }],
        hooks: {
          draw: draw.map((one) => (drawn) => one(known.run)(drawn)),
          setCursor: [(drawn) => onCursor(drawn.cursor.left >= 0 ? drawn.posToVal(drawn.cursor.left, "x") : null)],
          setSelect: [(drawn) => {
            const { left, width: wide } = drawn.select;
            if (wide <= 8) return;
            const ends = [left, left + wide].map((at) => drawn.posToVal(at, "x"));
            drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            onZoom(...ends);
          }],
        },
      },
      data, place.current,
    );
  }, [a, b, ghost, theme]);

  useEffect(() => () => {
    plot.current?.destroy();
    plot.current = null;
  }, []);

  useEffect(() => {
    const drawn = plot.current;
    if (drawn && cursor != null && document.activeElement === place.current) {
      drawn.setCursor({ left: drawn.valToPos(cursor, "x"), top: 10 });
    }
  }, [cursor]);

  const move = (event) => {
    const pixel = (a.until - a.from) / Math.max(1, place.current.clientWidth - 60);
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const now = cursor ?? a.from;
    let next = null;
    if (steps) next = now + steps * pixel * (event.shiftKey ? 10 : 1);
    if (event.key === "Home") next = a.from;
    if (event.key === "End") next = a.until;
    if (next === null) return;
    event.preventDefault();
    onCursor(Math.min(a.until, Math.max(a.from, next)));
  };

  // Not again for each move of the cursor: one curve of each side, and its words.
  const sides = useMemo(() => [["A", a], ...(b ? [["B", b]] : [])].map(([side, run]) => {
    const [x, curves] = curvesOf(panel, run);
    const curve = panel.stacked ? total([x, curves]) : [x, curves[0]?.[1] ?? []];
    return { side, curve, curves, told: words(b ? `${name}, ${side}` : name, panel.unit, curve, panel.figures) };
  }), [panel, a, b]);
  const [times, parts] = [sides[0].curve[0], sides[0].curves];
  const seen = panel.key === "delay" ? packetsSeen(a, Math.max(200, place.current?.clientWidth ?? 200)) : [];
  return html`<figure class="panel">
    <figcaption><b>${name}</b>, ${panel.unit}</figcaption>
    <div class="plot" ref=${place} tabindex="0" role="img" onKeyDown=${move}
      aria-label=${sides.map(({ told }) => told).join(" ")}></div>
    <ul class="legend">${
      (panel.stacked ? parts : parts.length > 1 ? parts : []).map(([label, , cause], number) =>
        html`<li><span class="key ${cause ? `cause-${cause}` : `line-${number % 4}`}"></span>${label}</li>`)
    }${b ? html`<li><span class="key b"></span>B</li>` : null}${ghost ? html`<li><span class="key ghost"></span>before</li>` : null}${
      panel.key === "queue" && a.ticks?.rows ? html`<li>ticks on top: long = drop, short = mark</li>` : null
    }${seen.length ? html`<li>bars: single packets, sending to arrival; dashed = late, cross = lost</li>` : null}</ul>
    <details onToggle=${(event) => unfold(event.currentTarget.open)}><summary>Words and table</summary>
      ${sides.map(({ told }) => html`<p>${told}</p>`)}
      ${seen.length ? html`<p>${seen.length} packets: ${["in time", "late", "lost"].map((fate) => `${seen.filter((one) => one.fate === fate).length} ${fate}`).join(", ")}.</p>
        <div class="scroll" tabindex="0" role="region" aria-label="Single packets"><table><thead><tr><th scope="col">sent, s</th><th scope="col">delay, ms</th><th scope="col">came</th></tr></thead>
        <tbody>${seen.slice(0, 200).map(({ from, delay, fate }) => html`<tr><td>${from.toFixed(3)}</td><td>${delay === null ? "" : delay.toFixed(2)}</td><td>${fate}</td></tr>`)}</tbody></table></div>` : null}
      <div class="scroll" tabindex="0" role="region" aria-label=${`${name}, as a table`}><table>
        <thead><tr><th scope="col">time, s</th>${sides.map(({ side }) => html`<th scope="col">${side}, ${panel.unit}</th>`)}</tr></thead>
        <tbody>${open && rows([times, times.map((_, row) => row)]).map(([at, row]) => html`<tr><td>${at.toFixed(1)}</td>${sides.map(({ curve }) =>
          html`<td>${curve[1][row] == null ? "" : curve[1][row].toFixed(2)}</td>`)}</tr>`)}</tbody>
      </table></div>
    </details>
  </figure>`;
}
