// Explore: one scenario, its sliders, the run of each setting, two of them side by side.

import { readings, PANELS } from "./picture.js";
import { Panel } from "./panel.js";
import { numberAt, position, STEPS } from "./scenario.js";
import * as link from "./link.js";
import * as take from "./export.js";
import { ask, served, wanted } from "./server.js";
import { Model } from "./state.js";
import { asStored, storedRun } from "./stored.js";
import { html, render, signal, useEffect, useState } from "./view.js";

const page = new URL("../", import.meta.url);
const still = matchMedia("(prefers-reduced-motion: reduce)");
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

function Controls({ model, side, only }) {
  const found = side.controls.value.filter((control) => !only || only.includes(control.path));
  const groups = [...new Set(found.map((control) => control.group))];
  return html`<section class="controls" aria-label=${`Settings of ${side.name}`}>
    ${groups.map((group) => html`<fieldset><legend>${group}</legend>
      ${found.filter((control) => control.group === group).map((control) =>
        html`<${Slider} key=${control.path} model=${model} side=${side} control=${control} />`)}
    </fieldset>`)}
  </section>`;
}

const signed = (value, figures) => (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(figures);

function Readings({ a, b }) {
  const mine = readings(a);
  const theirs = b ? new Map(readings(b).map((one) => [one.label, one])) : null;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Numbers of the run"><table class="readings"><caption>In this run</caption>
    <thead><tr><th scope="col">what</th><th scope="col">A</th>${b ? html`<th scope="col">B</th><th scope="col">B against A</th>` : null}</tr></thead>
    <tbody>${mine.map(({ label, value, unit, figures, better }) => {
      const other = theirs?.get(label);
      const difference = other ? other.value - value : 0;
      const small = Math.abs(difference) < 0.5 * 10 ** -figures;
      const word = small ? "the same" : difference * better > 0 ? "better" : "worse";
      return html`<tr><th scope="row">${label}</th><td>${`${value.toFixed(figures)} ${unit}`.trim()}</td>${
        b ? html`<td>${other ? `${other.value.toFixed(figures)} ${unit}`.trim() : ""}</td>
          <td>${other ? (small ? word : `${signed(difference, figures)} ${word}`) : ""}</td>` : null}</tr>`;
    })}</tbody></table></div>`;
}

/** The cursor moves on by itself. */
function Player({ model, run }) {
  const [playing, play] = useState(false);
  const [speed, setSpeed] = useState(1);
  useEffect(() => {
    if (!playing) return undefined;
    let frame;
    let last = performance.now();
    const step = (now) => {
      const next = (model.cursor.value ?? run.from) + ((now - last) / 1000) * speed;
      last = now;
      model.cursor.value = Math.min(next, run.until);
      if (next < run.until) frame = requestAnimationFrame(step);
      else play(false);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, run]);
  const at = model.cursor.value;
  const clock = `${(at ?? run.until).toFixed(1)} s of ${run.until.toFixed(0)} s`;
  return html`<div class="player" role="group" aria-label="Time">
    <button type="button" aria-pressed=${playing} onClick=${() => {
      if (still.matches) model.cursor.value = Math.min(run.until, (at ?? run.from) + 1);
      else {
        if (!playing && (at === null || at >= run.until)) model.cursor.value = run.from;
        play(!playing);
      }
    }}>${playing ? "Pause" : still.matches ? "One second on" : "Play"}</button>
    <label>speed <select value=${speed} onChange=${(event) => setSpeed(Number(event.target.value))}>
      ${[0.1, 1, 10].map((one) => html`<option value=${one}>${one}×</option>`)}</select></label>
    <span class="clock">${clock}</span>
    ${model.span.value ? html`<button type="button" onClick=${() => model.zoom()}>Whole run</button>` : html`
      <button type="button" onClick=${() => {
        const middle = at ?? run.until / 2;
        const half = (run.until - run.from) / 8;
        model.zoom(Math.max(0, middle - half), Math.min(run.seconds, middle + half));
      }}>Zoom in</button>`}
  </div>`;
}

function Problems({ model }) {
  const found = model.problems.value;
  if (!found.length) return null;
  return html`<ul class="problems" role="alert">${found.map(({ path, message, hint }) =>
    html`<li><b>${path}</b> ${message}${hint ? html`<br /><span>${hint}</span>` : null}</li>`)}</ul>`;
}

export function Pictures({ model, panels = PANELS }) {
  const a = model.a.run.value;
  const b = model.b?.run.value ?? null;
  if (!a) return html`<p class="waiting">The engine is being loaded.</p>`;
  return html`<div class="panels">${panels.map((panel) => html`<${Panel} key=${panel.key} panel=${panel} a=${a} b=${b}
    ghost=${model.a.ghost.value} theme=${theme.value} cursor=${model.cursor.value}
    onCursor=${(at) => { if (at !== null) model.cursor.value = at; }} onZoom=${(from, until) => model.zoom(from, until)} />`)}</div>`;
}

export { Controls, Problems, Readings };

function Exports({ model }) {
  const [said, say] = useState("");
  const sides = () => [["A", model.a.run.value], ...(model.b ? [["B", model.b.run.value]] : [])];
  const text = () => model.a.engine.set(model.scenario.value, model.a.settings.value, false);
  const here = async () => {
    const fragment = await link.write({
      scenario: model.scenario.value, a: model.a.settings.value, b: model.b?.settings.value ?? null,
      seed: model.seed.value, version: model.version.value,
    });
    if (fragment.length > 8000) {
      say("This scenario is too long for a link; take the file instead.");
      return;
    }
    history.replaceState(null, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied; it is in the address, too.");
    } catch {
      say("The link is in the address.");
    }
  };
  return html`<section class="exports" aria-label="Take away">
    <button type="button" onClick=${here}>Link</button>
    <button type="button" onClick=${async () => take.saveText(await text(), "scenario.toml")}>TOML</button>
    <button type="button" onClick=${() => take.saveCsv(sides())}>CSV</button>
    <button type="button" onClick=${() => take.savePng(document, document.title, model.version.value)}>PNG</button>
    <button type="button" onClick=${async () => take.saveNotebook(await text(), model.seed.value, "Sojourn")}>Notebook</button>
    <span role="status">${said}</span>
  </section>`;
}

function Explore({ model, scenarios }) {
  const a = model.a.run.value;
  const b = model.b?.run.value ?? null;
  const [shown, show] = useState("A");
  const same = Object.keys(model.a.settings.value).length ? null : asStored(model.stored, a?.metrics);
  const told = same === null ? "" : same ? " As stored: each number is the same." : " Not as stored: another version made it.";
  return html`
    <h1 class="quiet">Explore: what happens on this line</h1>
    <div class="bar">
      <label>scenario <select onChange=${async (event) => {
        const chosen = scenarios.find(({ file }) => file === event.target.value);
        model.open(await chosen.text());
      }}>${scenarios.map(({ name, file, first }) => html`<option value=${file} selected=${first}>${name}</option>`)}</select></label>
      <label>seed <input class="seed" type="number" min="1" max="4294967295" value=${model.seed.value}
        onChange=${(event) => { model.seed.value = Math.max(1, Math.floor(Number(event.target.value)) || 1); model.again(); }} /></label>
      ${b
        ? html`<span role="group" aria-label="Settings shown">
            ${["A", "B"].map((name) => html`<button type="button" aria-pressed=${shown === name} onClick=${() => show(name)}>${name}</button>`)}</span>
          <button type="button" onClick=${() => model.swap()}>Swap</button>
          <button type="button" onClick=${() => { model.hideB(); show("A"); }}>Without B</button>`
        : html`<button type="button" onClick=${() => { model.showB(); show("B"); }}>Compare with B</button>`}
      <button type="button" onClick=${() => model.undo()}>Undo</button>
    </div>
    <div class="explore">
      <${Controls} model=${model} side=${b && shown === "B" ? model.b : model.a} />
      <div>
        <${Problems} model=${model} />
        ${a ? html`<${Player} model=${model} run=${a} />` : null}
        <${Pictures} model=${model} />
        ${a ? html`<${Readings} a=${a} b=${b} />` : null}
        <${Exports} model=${model} />
      </div>
    </div>
    <p class="status" role="status">${model.status.value}${told}</p>`;
}

/** Starts a page: what it needs is fetched, its state is in the address. */
export async function prepare(file) {
  const get = async (name) => {
    const answer = await fetch(new URL(name, page));
    if (!answer.ok) throw new Error(`${name} is not there (${answer.status})`);
    return answer;
  };
  const sliders = await (await get("sliders.json")).json();
  const linked = await link.read(location.hash).catch((error) => ({ error }));
  const stored = storedRun();
  const named = wanted.file ? (await ask(`scenarios/${wanted.file}`)).text : null;
  const scenario = linked?.scenario ?? stored?.scenario ?? named ?? (await (await get(file)).text());
  const model = new Model({
    sliders, scenario, ...(linked && !linked.error ? linked : {}), ...(stored ? { seed: stored.seed } : {}),
  });
  model.stored = stored;
  globalThis.sojourn = model; // for tests, and for whoever is curious
  if (linked?.error) model.problems.value = [{ path: "link", message: linked.error.message, hint: "" }];
  return { model, get };
}

export async function start(root) {
  const { model, get } = await prepare("scenarios/lesson-buffer.toml");
  const scenarios = (await (await get("scenarios/index.json")).json()).map((one) => ({
    ...one, text: async () => (await get(one.file)).text(),
  }));
  if (served) {
    const { scenarios: named } = await ask("scenarios").catch(() => ({ scenarios: [] }));
    scenarios.unshift(...named.map(({ id, name }) => ({
      name, file: id, first: id === wanted.file, text: async () => (await ask(`scenarios/${id}`)).text,
    })));
  }
  if (model.stored) scenarios.unshift({ name: "the stored run", file: "stored", first: true, text: async () => model.stored.scenario });
  render(html`<${Explore} model=${model} scenarios=${scenarios} />`, root);
  await model.load();
}
