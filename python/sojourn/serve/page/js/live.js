// Live mode: a control acts from the cursor on. What was changed is part of the scenario, as `[[change]]`, so it is undone, linked
// and exported as any setting is.

import { Problems } from "./engine.js";
import { quantity } from "./scenario.js";
import { html, useEffect } from "./view.js";

const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const CHANGE = /^\[\[change\]\]\nat = "(.*)"\nset = \{ (.*) \}$/gm;
const SET = new RegExp(`(${STRING}) = (${STRING}|[^,]+)`, "g");

/** Changes of a canonical text in the course of its run: time in s, and keys with their values as TOML. */
export const changes = (canonical) => [...canonical.matchAll(CHANGE)].map(([, at, set]) => ({
  at: quantity(at, "s"),
  set: Object.fromEntries([...set.matchAll(SET)].map(([, path, value]) => [JSON.parse(path), value])),
}));

/** The same as the value of the key `change`. */
export const spelt = (log) => `[${log.map(({ at, set }) => {
  const sets = Object.entries(set).map(([path, value]) => `${JSON.stringify(path)} = ${value}`);
  return `{ at = "${at} s", set = { ${sets.join(", ")} } }`;
}).join(", ")}]`;

/** A log with one change more, or with another value for the one of this time. */
export function withChange(log, at, path, value) {
  const toml = /^(true|false|[\d.]+)$/.test(value) ? value : JSON.stringify(value);
  const same = log.find((change) => change.at === at);
  if (same) return log.map((change) => (change === same ? { at, set: { ...same.set, [path]: toml } } : change));
  return [...log, { at, set: { [path]: toml } }].sort((one, other) => one.at - other.at);
}

const LEAST_S = 0.001; // a change of the very start is a setting

/** Time of the cursor in s, to the ms. */
const now = (model) => Math.max(LEAST_S, Math.round(1000 * (model.cursor.value ?? 0)) / 1000);

/** The setting that makes `value` act from the cursor on, or null, with the problem told, if it cannot. */
async function fromNow(model, side, path, value, dragged) {
  const setting = spelt(withChange(changes(side.canonical), now(model), path, value));
  if (dragged) return setting;
  try {
    await side.engine.check(model.scenario.value, { ...side.settings.value, change: setting });
    return setting;
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    model.problems.value = error.problems.map((one) => ({ ...one, path }));
    return null;
  }
}

/** A control as it stands at the cursor. */
function shown(model, side, control) {
  const made = changes(side.canonical).filter(({ at, set }) => at <= now(model) && control.path in set).pop();
  if (!made) return control;
  const said = made.set[control.path].replaceAll('"', "");
  return { ...control, said, number: control.choices ? control.number : quantity(said, control.unit) };
}

/** The switch between controls that act from the start or from now on, and the list of changes. */
export function Live({ model, side }) {
  const act = (isLive) => {
    if (isLive && model.cursor.value === null) model.cursor.value = side.run.value.until / 2;
    model.live.value = isLive ? { setting: fromNow, shown } : null;
  };
  useEffect(() => () => act(false), []);
  const log = side.run.value && side.canonical ? changes(side.canonical) : [];
  const takeBack = (gone) => {
    const left = log.filter((change) => change.at !== gone.at);
    return model.change(side, "change", left.length ? spelt(left) : "[]");
  };
  return html`<fieldset class="choices"><legend>A control acts</legend>
      ${[[false, "from the start"], [true, `from now on: ${now(model).toFixed(1)} s`]].map(([isLive, label]) => html`<label><input type="radio"
        name="live" checked=${Boolean(model.live.value) === isLive} onChange=${() => act(isLive)} />${label}</label>`)}</fieldset>
    <p>From now on, a control changes what happens after the cursor; what was before it stays. It is a line in the scenario, which
      “TOML” takes away. Rates, buffers, what a queue manager decides by, lanes and pauses can change; the rest is fixed during a run.</p>
    <ul class="changes">${log.map((change) => html`<li>${change.at} s: ${Object.entries(change.set).map(([path, value]) =>
      `${path} = ${value.replaceAll('"', "")}`).join(", ")} <button type="button" onClick=${() => takeBack(change)}>Take back</button></li>`)}</ul>`;
}
