// Parts that pages share: settings of a side, its pictures, its numbers, what is wrong.

import { readings, PANELS } from "./picture.js";
import { Panel } from "./panel.js";
import { numberAt, position, STEPS } from "./scenario.js";
import { html, signal, useEffect, useState } from "./view.js";

const theme = signal(0);
for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
  matchMedia(query).addEventListener("change", () => theme.value++);
}
addEventListener("resize", () => theme.value++);

function Slider({ model, side, control }) {
  const { path, label, unit } = control;
  const set = (value, dragged) => model.change(side, path, value, dragged);
  const id = `${side.name}-${path}`;
  if (control.choices) {
    return html`<div class="control"><label for=${id}>${label}</label>
      <select id=${id} value=${control.said} data-path=${path}
        onChange=${(event) => set(control.values?.[event.target.value] ?? event.target.value, false)}>
        ${control.choices.map((choice) => html`<option value=${choice}>${choice}</option>`)}
      </select></div>`;
  }
  const text = (number) => (control.whole ? String(number) : `${number} ${unit}`.trim());
  const [number, show] = useState(control.number);
  useEffect(() => show(control.number), [control.number]);
  const ends = control.whole ? [control.min, control.max] : [0, STEPS];
  const move = (event, dragged) => {
    const next = numberAt(control, Number(event.target.value));
    show(next);
    set(text(next), dragged);
  };
  return html`<div class="control"><label for=${id}>${label}</label>
    <input id=${id} type="range" min=${ends[0]} max=${ends[1]} step="1" value=${position(control, number)}
      aria-valuetext=${text(number)} data-path=${path}
      onInput=${(event) => move(event, true)} onChange=${(event) => move(event, false)}
      onDblClick=${() => model.forget(side, path)} />
    <input class="exact" type="text" aria-label=${`${label}, exactly`} value=${text(number)}
      onChange=${(event) => set(event.target.value.trim(), false)} /></div>`;
}

/** The sliders of a side, or those of some paths. */
export function Controls({ model, side, only }) {
  const found = side.controls.value.filter((control) => !only || only.includes(control.path))
    .map((control) => model.live.value?.shown(model, side, control) ?? control);
  const groups = [...new Set(found.map((control) => control.group))];
  return html`<section class="controls" aria-label=${`Settings of ${side.name}`}>
    ${groups.map((group) => html`<fieldset><legend>${group}</legend>
      ${found.filter((control) => control.group === group).map((control) =>
        html`<${Slider} key=${control.path} model=${model} side=${side} control=${control} />`)}
    </fieldset>`)}
  </section>`;
}

const signed = (value, figures) => (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(figures);

/** Numbers of one run, or of two with what differs. */
export function Readings({ a, b }) {
  const mine = readings(a);
  const theirs = b ? new Map(readings(b).map((one) => [one.label, one])) : null;
  return html`<div class="scroll whole" tabindex="0" role="region" aria-label="Numbers of the run"><table class="readings"><caption>In this run</caption>
    <thead><tr><th scope="col">measure</th><th scope="col">A</th>${b ? html`<th scope="col">B</th><th scope="col">B against A</th>` : null}</tr></thead>
    <tbody>${mine.map(({ label, value, unit, figures, better }) => {
      const other = theirs?.get(label);
      const difference = other ? other.value - value : 0;
      const small = Math.abs(difference) < 0.5 * 10 ** -figures;
      const word = small ? "the same" : better === 0 ? "" : difference * better > 0 ? "better" : "worse";
      return html`<tr><th scope="row">${label}</th><td>${`${value.toFixed(figures)} ${unit}`.trim()}</td>${
        b ? html`<td>${other ? `${other.value.toFixed(figures)} ${unit}`.trim() : ""}</td>
          <td>${other ? (small ? word : `${signed(difference, figures)} ${word}`) : ""}</td>` : null}</tr>`;
    })}</tbody></table></div>`;
}

/** Problems of the settings. */
export function Problems({ model }) {
  const found = model.problems.value;
  if (!found.length) return null;
  return html`<ul class="problems" role="alert">${found.map(({ path, message, hint }) =>
    html`<li>${path ? html`<b>${path}</b> ` : null}${message}${hint ? html`<br /><span>${hint}</span>` : null}</li>`)}</ul>`;
}

/** How far a long run is, with a way to end it; `waiting` stands there before. */
function Progress({ model, waiting }) {
  const share = model.progress.value;
  if (share === null) return waiting ? html`<p class="waiting">${waiting}</p>` : null;
  return html`<div class="bar"><label>simulated <progress max="1" value=${share} /></label> ${Math.floor(100 * share)} %
    <button type="button" onClick=${() => model.stop()}>Stop</button></div>`;
}

/** The panels of the runs. */
export function Pictures({ model, panels = PANELS }) {
  const a = model.a.run.value;
  const b = model.b?.run.value ?? null;
  if (!a && model.problems.value.length) return null;
  if (!a) return html`<${Progress} model=${model} waiting=${model.version.value ? "The run has begun." : "The engine is being loaded."} />`;
  return html`<${Progress} model=${model} waiting="" /><div class="panels">${panels.map((panel) => html`<${Panel} key=${panel.key} panel=${panel} a=${a} b=${b}
    ghost=${model.a.ghost.value} theme=${theme.value} cursor=${model.cursor.value}
    onCursor=${(at) => { if (at !== null) model.cursor.value = at; }} onZoom=${(from, until) => model.zoom(from, until)} />`)}</div>`;
}
