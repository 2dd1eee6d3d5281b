// The form of all keys: what the engine's table says of each, its value in force, and the scenario as text as a second view.

import { added, copied, edit, renamed, without } from "./edit.js";
import { file } from "./files.js";
import { ends, form, named, names, rowsOf, search } from "./keys.js";
import { isWritten, numberAt, plain, position, quantity, STEPS } from "./scenario.js";
import { html, useEffect, useMemo, useRef, useState } from "./view.js";

const MOST = 80; // rows that a search shows
const WAIT_MS = 400; // after the last letter, until a text is read

let table = null;

async function loaded() {
  table ??= await (await file("keys.json")).json().then(({ keys, synonyms }) => ({ keys: keys.map(named), synonyms }));
  return table;
}

/** One value, by its form. */
function Value({ row, kinds, set }) {
  const { path, said, value, allowed } = row;
  const id = `key-${path}`;
  const shape = form(value);
  const text = (other) => html`<input id=${id} type="text" value=${said ?? ""} placeholder=${row.default} aria-describedby=${`${id}-about`}
    onChange=${(event) => set(event.target.value.trim() || other)} />`;
  if (shape.as === "check") {
    return html`<input id=${id} type="checkbox" checked=${said === "true"} aria-describedby=${`${id}-about`}
      onChange=${(event) => set(String(event.target.checked))} />`;
  }
  if (shape.as === "kind") {
    const choices = kinds.get(row.of) ?? [];
    const of = (what) => choices.filter((one) => one.what === what);
    return html`<select id=${id} value=${said ?? ""} aria-describedby=${`${id}-about`} onChange=${(event) => {
      const profile = choices[event.target.selectedOptions[0].dataset.profile];
      set(profile ? `{ kind = ${JSON.stringify(profile.of.split(", ")[0])}, profile = ${JSON.stringify(profile.word)} }` : event.target.value);
    }}>
      ${said === null ? html`<option value="">none</option>` : null}
      ${of("kind").map(({ word, meaning }) => html`<option value=${word} title=${meaning}>${word}: ${meaning}</option>`)}
      ${of("profile").length ? html`<optgroup label="with values of a document">${choices.map((one, place) => (one.what === "profile" ? html`
        <option value=${`${one.of}/${one.word}`} data-profile=${place}>${one.word}: ${one.meaning}</option>` : null))}</optgroup>` : null}
    </select>`;
  }
  if (shape.as === "radio") {
    return html`<fieldset id=${id} class="choices" aria-describedby=${`${id}-about`}><legend class="unseen">${path}</legend>${shape.words.map(({ word, meaning }) => html`<label>
      <input type="radio" name=${id} checked=${said === word} onChange=${() => set(word)} />${word}${meaning ? html` <span class="quiet">${meaning}</span>` : null}</label>`)}</fieldset>`;
  }
  if (shape.as === "list") {
    return html`<select id=${id} value=${said ?? ""} aria-describedby=${`${id}-about`} onChange=${(event) => set(event.target.value)}>
      ${said === null ? html`<option value="">none</option>` : null}
      ${shape.words.map(({ word, meaning }) => html`<option value=${word}>${word}${meaning ? `: ${meaning}` : ""}</option>`)}</select>`;
  }
  if (shape.as === "either") {
    return html`<span class="either">${shape.words.map(({ word, meaning }) => html`<label class="check" title=${meaning}><input type="checkbox" checked=${said === word}
      onChange=${(event) => event.target.checked && set(word)} />${word}</label>`)}${text(shape.words[0].word)}</span>`;
  }
  const unit = /[A-Za-z/]+$/.exec(said ?? "")?.[0] ?? "";
  const number = said === null ? NaN : quantity(said, unit);
  const bounds = Number.isNaN(number) ? null : ends(allowed, quantity, unit);
  if (!bounds) return text("");
  const scale = { ...bounds, whole: /^whole|packets/.test(value) && bounds.max <= 1000 };
  const write = (place) => `${scale.whole ? place : numberAt(scale, place)} ${unit}`.trim();
  return html`<span class="either"><input type="range" aria-label=${`${path}, roughly`} min=${scale.whole ? scale.min : 0} max=${scale.whole ? scale.max : STEPS} step="1"
    value=${position(scale, number)} onChange=${(event) => set(write(Number(event.target.value)))} />${text("")}</span>`;
}

function Row({ model, side, row, kinds, keep }) {
  const { path, about, origin, allowed } = row;
  const own = path in side.settings.value;
  const id = `key-${path}`;
  const wrong = model.problems.value.filter((problem) => problem.path === path);
  return html`<div class="key-row"><label for=${id}><code>${path}</code></label>
    <${Value} row=${row} kinds=${kinds} set=${(value) => (value === "" ? model.forget(side, path) : model.change(side, path, value, false, keep(path, value)))} />
    <p id=${`${id}-about`}>${about}${allowed ? `; ${allowed}` : ""}${row.default && row.default !== "required" ? `; ${row.default} if not said` : ""}
      ${origin ? html` <span class="quiet">[${origin}]</span>` : null}
      ${own ? html` <button type="button" class="link" onClick=${() => model.forget(side, path)}>as in the file<span class="unseen">: ${path}</span></button>` : null}</p>
    ${wrong.map(({ message, hint }) => html`<p class="bad">${message}${hint ? `: ${hint}` : ""}</p>`)}</div>`;
}

function Group({ title, rows, ...rest }) {
  const [open, set] = useState(false);
  return html`<details open=${open} onToggle=${(event) => set(event.currentTarget.open)}><summary>${title} <span class="quiet">${rows.length} ${rows.length === 1 ? "key" : "keys"}</span></summary>
    ${open ? rows.map((row) => html`<${Row} key=${row.path} row=${row} ...${rest} />`) : null}</details>`;
}

/** The entries of traffic that the file has: rename, copy, remove, add. */
function Entries({ model, side, known, applications, say }) {
  const [application, choose] = useState("voice");
  const listed = names(known, "traffic");
  const all = listed.map(plain);
  const written = listed.filter((name) => isWritten(model.scenario.value, name)).map(plain);
  const free = (start) => {
    for (let number = 2; ; number++) if (!all.includes(`${start}-${number}`)) return `${start}-${number}`;
  };
  const put = async (change) => {
    try {
      await model.write(side, change(await model.text(side)));
    } catch (error) {
      say(error.message);
    }
  };
  return html`<ul class="entries">${written.map((name) => html`<li><input type="text" aria-label=${`Name of ${name}`} value=${name}
      onChange=${(event) => put((text) => renamed(text, name, event.target.value.trim()))} />
    <button type="button" onClick=${() => put((text) => copied(text, name, free(name)))}>Copy<span class="unseen"> ${name}</span></button>
    <button type="button" disabled=${written.length < 2} onClick=${() => put((text) => without(text, name))}>Remove<span class="unseen"> ${name}</span></button></li>`)}
    <li><label>another <select value=${application} onChange=${(event) => choose(event.target.value)}>
      ${applications.map(({ word }) => html`<option value=${word}>${word}</option>`)}</select></label>
      <button type="button" onClick=${() => put((text) => added(text, all.includes(application) ? free(application) : application, application))}>Add</button></li></ul>`;
}

/** The scenario as text. A text with mistakes shows them with their lines; one without is run. */
function Text({ model, side }) {
  const place = useRef(null);
  const timer = useRef(0);
  const [text, show] = useState(null);
  const [wrong, tell] = useState([]);
  const settings = side.settings.value;
  const scenario = model.scenario.value;
  useEffect(() => {
    if (document.activeElement === place.current) return; // the user is typing
    model.text(side).then((now) => { show(now); tell([]); }, () => show((before) => before ?? scenario));
  }, [scenario, settings]);
  const read = async (written) => {
    try {
      await model.write(side, written);
      tell([]);
    } catch (error) {
      tell(error.problems ?? [{ path: "", message: error.message, hint: "" }]);
    }
  };
  const go = (line, column) => {
    const lines = place.current.value.split("\n");
    const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + Math.max(0, column - 1);
    place.current.focus();
    place.current.setSelectionRange(at, at + Math.max(1, (lines[line - 1] ?? "").length - column + 1));
  };
  if (text === null) return null;
  return html`<label for="scenario-text">The scenario as a file, with what A has set${model.b ? "; B keeps its own settings" : ""}</label>
    <textarea id="scenario-text" ref=${place} spellcheck="false" rows="24" value=${text} onInput=${(event) => {
      const written = event.target.value;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => read(written), WAIT_MS);
    }}></textarea>
    ${wrong.length ? html`<ul class="problems" role="alert">${wrong.map(({ path, message, hint, line, column }) => html`<li>
      ${line ? html`<button type="button" class="link" onClick=${() => go(line, column)}>line ${line}</button> ` : null}<b>${path}</b> ${message}${hint ? html`<br /><span>${hint}</span>` : null}</li>`)}</ul>` : null}`;
}

/** All keys of a side. */
export function KeyForm({ model, sideName }) {
  const side = sideName === "B" && model.b ? model.b : model.a;
  const [keys, show] = useState(table);
  const [words, look] = useState("");
  const [said, say] = useState("");
  const [text, asText] = useState(false);
  useEffect(() => { loaded().then(show, (error) => say(error.message)); }, []);
  const known = side.known.value;
  const found = useMemo(() => (keys ? rowsOf(keys.keys, known, model.scenario.value) : { rows: [], kinds: new Map() }), [keys, known, model.scenario.value]);
  if (!keys) return html`<p>${said || "The table of keys is being loaded."}</p>`;
  const keep = (path, value) => {
    // Values that the new kind has, too, stay.
    const kind = /kind = "([^"]+)"/.exec(value)?.[1] ?? value;
    const after = new Map(known).set(`${path}.kind`, kind);
    const fits = new Set(rowsOf(keys.keys, after, model.scenario.value).rows.map((row) => row.path));
    return (other) => fits.has(other);
  };
  const parts = { model, side, kinds: found.kinds, keep };
  const groups = [...new Set(found.rows.map(({ group }) => group))];
  const fitting = words.trim().length > 1 ? search(found.rows, words, keys.synonyms) : null;
  return html`<section class="keys" aria-label="All keys">
    <div class="bar"><label>search <input type="search" value=${words} onInput=${(event) => look(event.target.value)} /></label>
      <button type="button" aria-pressed=${text} onClick=${() => asText(!text)}>As text</button><span role="status">${said}${
      fitting ? `${fitting.length} ${fitting.length === 1 ? "key fits" : "keys fit"}` : ""}</span></div>
    ${text ? html`<${Text} model=${model} side=${model.a} />` : null}
    ${fitting ? fitting.slice(0, MOST).map((row) => html`<${Row} key=${row.path} row=${row} ...${parts} />`)
      : groups.map((group) => html`<${Group} key=${group} title=${group} rows=${found.rows.filter((row) => row.group === group)} ...${parts} />`)}
    <h2>Entries of traffic</h2>
    <${Entries} model=${model} side=${model.a} known=${model.a.known.value} applications=${(found.kinds.get("traffic.NAME.app") ?? []).filter(({ what }) => what === "kind")} say=${say} />
  </section>`;
}
