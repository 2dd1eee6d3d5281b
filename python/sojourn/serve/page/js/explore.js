// Explore: one scenario, its sliders, the run of each setting, two of them side by side.

import { file, inside } from "./files.js";
import { headline } from "./picture.js";
import { Controls, Pictures, Problems, Readings } from "./parts.js";
import { isLink, prepare } from "./prepare.js";
import { ask, served, wanted } from "./server.js";
import { html, Later, render, useEffect, useState } from "./view.js";

const forClass = "class" in document.getElementById("page").dataset; // its files are those of lessons: no table of all keys
const still = matchMedia("(prefers-reduced-motion: reduce)");

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

function Exports({ model }) {
  const [said, say] = useState("");
  const sides = () => [["A", model.a.run.value], ...(model.b ? [["B", model.b.run.value]] : [])];
  const text = () => model.text(model.a);
  const take = async (action) => action(await import("./export.js"));
  const state = () => ({
    scenario: model.scenario.value, a: model.a.settings.value, b: model.b?.settings.value ?? null,
    seed: model.seed.value, version: model.version.value,
  });
  const linked = async (action) => action(await import("./link.js"));
  // Once the address has a link, it stays that of what is shown.
  useEffect(() => {
    if (!isLink(location.hash) || model.refused) return undefined;
    const later = setTimeout(() => linked(({ keep }) => keep(state())), 200);
    return () => clearTimeout(later);
  }, [JSON.stringify(state())]);
  return html`<section class="exports" aria-label="Take away">
    ${inside ? null : html`<button type="button" onClick=${() => linked(async ({ copy }) => say(await copy(state())))}>Link</button>`}
    <button type="button" onClick=${() => take(async ({ saveText }) => saveText(await text(), "scenario.toml"))}>TOML</button>
    <button type="button" onClick=${() => take(({ saveCsv }) => saveCsv(sides()))}>CSV</button>
    <button type="button" onClick=${() => take(({ savePng }) => savePng(document, document.title, model.version.value))}>PNG</button>
    <button type="button" onClick=${() => take(async ({ saveNotebook }) => saveNotebook(await text(), model.seed.value, "Sojourn"))}>Notebook</button>
    <span role="status">${said}</span>
  </section>`;
}

function Explore({ model, scenarios }) {
  const a = model.a.run.value;
  const b = model.b?.run.value ?? null;
  const [shown, show] = useState("A");
  const side = b && shown === "B" ? model.b : model.a;
  const same = Object.keys(model.a.settings.value).length ? null : model.asStored?.(a?.metrics) ?? null;
  const told = same === null ? "" : same ? " As stored: each number is the same." : " Not as stored: another version made it.";
  return html`
    <h1 class="quiet">Explore: what happens on this line</h1>
    <div class="bar">
      <label>scenario <select onChange=${async (event) => {
        const chosen = scenarios.find(({ file }) => file === event.target.value);
        if (!chosen.file) return;
        if (isLink(location.hash)) history.replaceState(null, "", location.pathname + location.search);
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
      <${Controls} model=${model} side=${side} />
      <div>
        <${Problems} model=${model} />
        ${a ? html`<p class="headline" role="status">${b ? `A: ${headline(a)} B: ${headline(b)}` : headline(a)}</p>
          <${Player} model=${model} run=${a} />` : null}
        <${Pictures} model=${model} />
        ${a ? html`<${Readings} a=${a} b=${b} />
          <${Later} title="Change it while it runs" load=${() => import("./live.js").then(({ Live }) => Live)} model=${model} side=${side} />
          <${Later} title="Hear it" load=${() => import("./hear.js").then(({ Hear }) => Hear)} model=${model} />
          <${Later} title="The same with other seeds" load=${() => import("./seeds.js").then(({ Seeds }) => Seeds)} model=${model} />` : null}
        <${Exports} model=${model} />
      </div>
    </div>
    ${a && !inside && !forClass ? html`<${Later} title="All keys, and the scenario as text" load=${() => import("./keyform.js").then(({ KeyForm }) => KeyForm)}
      model=${model} sideName=${shown} />` : null}
    <p class="status" role="status">${model.status.value}${told}</p>`;
}

export async function start(root) {
  const listed = await (await file("scenarios/index.json")).json();
  const model = await prepare(listed[0].file);
  const scenarios = listed.map((one) => ({ ...one, text: async () => (await file(one.file)).text() }));
  if (served) {
    const { scenarios: named } = await ask("scenarios").catch(() => ({ scenarios: [] }));
    scenarios.unshift(...named.map(({ id, name }) => ({
      name, file: id, first: id === wanted.file, text: async () => (await ask(`scenarios/${id}`)).text,
    })));
  }
  if (model.stored) scenarios.unshift({ name: "the stored run", file: "stored", first: true, text: async () => model.stored.scenario });
  if (model.refused) scenarios.unshift({ name: "choose one", file: "", first: true, text: async () => "" });
  render(html`<${Explore} model=${model} scenarios=${scenarios} />`, root);
  await model.load();
}
