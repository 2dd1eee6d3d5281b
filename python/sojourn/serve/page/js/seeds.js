// The guard against one lucky seed: the numbers of a run with seeds 1 to 20, a dot for each.

import { readings } from "./picture.js";
import { WasmEngine } from "./port.js";
import { html, useEffect, useRef, useState } from "./view.js";

const SEEDS = 20;
const [WIDE, HIGH, DOT] = [220, 22, 3.5];

/** Waits until the page is idle; the picture in front goes before. */
const idle = () => new Promise((resume) => (globalThis.requestIdleCallback ?? setTimeout)(resume));

const median = (values) => {
  const [low, high] = [Math.floor, Math.ceil].map((end) => [...values].sort((a, b) => a - b)[end((values.length - 1) / 2)]);
  return (low + high) / 2;
};

/** Values of all seeds by label: `runs` has the readings of each. */
export function spread(runs) {
  const found = new Map();
  for (const one of runs) {
    for (const { label, value, unit, figures } of one) {
      if (!found.has(label)) found.set(label, { unit, figures, values: [] });
      found.get(label).values.push(value);
    }
  }
  return found;
}

function Strip({ values, least, most, words }) {
  const at = (value) => DOT + 1 + (WIDE - 2 * DOT - 2) * (most > least ? (value - least) / (most - least) : 0.5);
  return html`<svg class="strip" width=${WIDE} height=${HIGH} viewBox=${`0 0 ${WIDE} ${HIGH}`} role="img" aria-label=${words}>
    <path d=${`M0 ${HIGH / 2}H${WIDE}`} />${values.map((value) => html`<circle cx=${at(value).toFixed(1)} cy=${HIGH / 2} r=${DOT} />`)}
    <path d=${`M${at(median(values)).toFixed(1)} 2V${HIGH - 2}`} /></svg>`;
}

/** The panel: runs of A, and of B if it is there, anew when their settings change. */
export function Seeds({ model }) {
  const engine = useRef(null);
  const [found, show] = useState({ A: [], B: [] });
  const sides = [model.a, ...(model.b ? [model.b] : [])];
  const scenario = model.scenario.value;
  useEffect(() => {
    let over = false;
    const runs = { A: [], B: [] };
    show({ A: [], B: [] });
    const all = async () => {
      if (!engine.current) {
        engine.current = new WasmEngine();
        engine.current.ready = engine.current.load();
      }
      await engine.current.ready;
      for (let seed = 1; seed <= SEEDS; seed++) {
        for (const { name, settings } of sides) {
          await idle();
          if (over) return;
          const run = await engine.current.run({ scenario, settings: settings.value, seed, span: null, pixels: 200, seconds: 0 });
          if (over || !run) return;
          runs[name].push(readings(run));
        }
        show({ ...runs });
      }
    };
    all().catch(() => {}); // problems of the settings stand beside them
    return () => { over = true; };
  }, [scenario, ...sides.map(({ settings }) => JSON.stringify(settings.value))]);
  useEffect(() => () => engine.current?.end(), []);
  const spreads = sides.map(({ name }) => [name, spread(found[name])]);
  const done = found.A.length;
  return html`<section class="seeds"><p role="status">${done < SEEDS ? `${done} of ${SEEDS} seeds are done.` : `Seeds 1 to ${SEEDS}: each dot is a run with these settings, the line is the median.`}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Numbers with each seed"><table><thead><tr><th scope="col">measure</th>${spreads.map(([name]) =>
      html`<th scope="col">${name}</th><th scope="col">median</th><th scope="col">range</th>`)}</tr></thead>
    <tbody>${[...spreads[0][1]].map(([label, { unit, figures }]) => {
      const all = spreads.flatMap(([, one]) => one.get(label)?.values ?? []);
      const [least, most] = [Math.min(...all), Math.max(...all)];
      const text = (value) => `${value.toFixed(figures)} ${unit}`.trim();
      return html`<tr><th scope="row">${label}</th>${spreads.map(([name, one]) => {
        const values = one.get(label)?.values;
        if (!values) return html`<td></td><td></td><td></td>`;
        const ends = `${Math.min(...values).toFixed(figures)} to ${text(Math.max(...values))}`;
        return html`<td><${Strip} values=${values} least=${least} most=${most}
          words=${`${label}, ${name}, ${values.length} seeds: median ${text(median(values))}, ${ends}`} /></td><td class="unbroken">${text(median(values))}</td><td class="unbroken">${ends}</td>`;
      })}</tr>`;
    })}</tbody></table></div></section>`;
}
