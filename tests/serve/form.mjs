// The form and the text of a scenario, held against the engine: each value in force, set again, changes nothing; a value that is
// written into the text means what the setting means. Prints what it found as JSON.

import { readFileSync } from "node:fs";

const [page, ...files] = process.argv.slice(2);
const { Engine, Problems } = await import(`${page}/js/engine.js`);
const { form, named, names: entriesOf, rowsOf } = await import(`${page}/js/keys.js`);
const { plain, values } = await import(`${page}/js/scenario.js`);
const { edit, entry, copied, without, renamed, added } = await import(`${page}/js/edit.js`);

const engine = await Engine.load(readFileSync(`${page}/engine.wasm`));
const keys = JSON.parse(readFileSync(0, "utf8")).keys.map(named);
const shapes = {};
for (const { value } of keys) {
  if (/^(kind|profile) = /.test(value)) continue;
  const { as } = form(value);
  shapes[as] = (shapes[as] ?? 0) + 1;
}

const found = { shapes, set: 0, moved: [], edited: 0, spelt: 0, wrong: [], comments: [], changed: 0, entries: [] };
const meaning = (text, settings = {}) => {
  try {
    return engine.set(text, settings, true);
  } catch (error) {
    if (error instanceof Problems) return null;
    throw error;
  }
};
for (const file of files) {
  const text = readFileSync(file, "utf8");
  const whole = meaning(text);
  if (whole === null) continue; // a link from a trace: the engine of browsers has none
  const known = values(whole);
  const { rows, kinds } = rowsOf(keys, known, text);
  for (const row of rows) {
    if (row.said === null || row.value === "table with a kind") continue;
    found.set += 1;
    if (meaning(text, { [row.path]: row.said }) !== whole) found.moved.push([file, row.path, row.said]);
    const now = edit(text, row.path, row.said);
    if (now === null) found.spelt += 1;
    else {
      found.edited += 1;
      if (meaning(now) !== whole) found.wrong.push([file, row.path, row.said]);
      const remarks = (one) => (one.match(/#.*/g) ?? []).join("\n");
      if (remarks(now) !== remarks(text)) found.comments.push([file, row.path]);
    }
  }
  // Other values: each word that a key may be, and each kind of a table.
  for (const row of rows) {
    const shape = form(row.value);
    const others = row.value === "table with a kind" ? (kinds.get(row.of) ?? []).filter(({ what }) => what === "kind").slice(0, 4)
      : shape.words ?? (shape.as === "check" ? [{ word: row.said === "true" ? "false" : "true" }] : []);
    for (const { word } of others.slice(0, 2)) {
      const meant = meaning(text, { [row.path]: word });
      const now = meant === null ? null : edit(text, row.path, word);
      if (now === null) continue;
      found.changed += 1;
      if (meaning(now) !== meant) found.wrong.push([file, row.path, word]);
    }
  }
}

// Entries: copied, renamed, removed and added, with their comments.
const lesson = readFileSync(files.find((file) => file.endsWith("lesson-buffer.toml")), "utf8");
const names = (text) => [...values(meaning(text)).keys()].filter((path) => /^traffic\.[^.]+\.name$/.test(path)).map((path) => path.split(".")[1]);
const spaced = renamed(lesson, "call", "my phone");
const shown = entriesOf(values(meaning(spaced)), "traffic").map(plain);
found.entries = [
  names(copied(lesson, "upload", "second")), names(without(lesson, "call")), names(renamed(lesson, "call", "phone")), names(added(lesson, "game", "game")),
  shown, names(without(spaced, shown[1])),
  entry(lesson, "nobody"), without(lesson, "nobody") === lesson,
];
console.log(JSON.stringify(found));
