// The keys of scenarios: which stand where in a scenario, and what a value of each looks like.

import { isWritten, segments } from "./scenario.js";

/** A row of `keys.json` by names. */
export const named = ([path, kind, value, preset, allowed, about, origin]) => ({ path, kind, value, default: preset, allowed, about, origin });

const WORD = /"([^"]+)"(?: \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))?/g;

/** How a value is set: by a check box, a choice of words with their meanings, a word or a text, or a text. */
export function form(value) {
  if (value === "true or false") return { as: "check" };
  if (value === "table with a kind") return { as: "kind" };
  const words = [...value.matchAll(WORD)].map(([, word, meaning]) => ({ word, meaning: meaning ?? "" }));
  const rest = value.replace(WORD, "").replace(/\bor\b|,/g, "").trim();
  if (words.length && !rest) return { as: words.length > 4 ? "list" : "radio", words };
  if (words.length) return { as: "either", words };
  return { as: "text" };
}

/** Names of the entries of a list in a scenario. */
export const names = (known, list) =>
  [...known.keys()].filter((path) => path.startsWith(`${list}.`) && segments(path).length === segments(list).length + 2 && path.endsWith(".name"))
    .map((path) => segments(path)[segments(list).length]);

/** The paths of a scenario that a row of the table is about. */
export function places(row, known) {
  const found = [];
  const grow = (done, rest) => {
    if (!rest.length) {
      found.push(done.join("."));
      return;
    }
    const [part, ...more] = rest;
    if (part === "DIRECTION") for (const one of ["upstream", "downstream"]) grow([...done, one], more);
    else if (part === "NAME") for (const one of names(known, done.join("."))) grow([...done, one], more);
    else grow([...done, part], more);
  };
  const path = segments(row.path);
  grow([], path);
  // Links and homes have what the access link and traffic have.
  if (row.path.startsWith("access.DIRECTION.")) {
    for (const link of names(known, "link")) grow(["link", link], path.slice(1));
    for (const home of names(known, "home")) grow(["home", home], path);
  }
  if (row.path.startsWith("traffic.NAME.")) for (const home of names(known, "home")) grow(["home", home], path);
  return found;
}

/** Returns true if the kind that is chosen above a path has this key. */
export function applies(row, path, known) {
  if (!row.kind) return true;
  const kinds = row.kind.split(", ");
  const above = segments(path);
  while (above.pop()) {
    const kind = known.get([...above, "kind"].join("."));
    if (kind !== undefined) return kinds.includes(kind);
  }
  return false;
}

/** Parts of a path that name its group; of other paths, the first. */
const GROUP_PARTS = { access: 2, traffic: 2, link: 2, home: 4 };

/** The keys that a scenario can have, with their values and groups; and the kinds and profiles of each table that has a kind. */
export function rowsOf(keys, known, text) {
  const found = [];
  const kinds = new Map();
  for (const row of keys) {
    const choice = /^(kind|profile) = "([^"]+)"$/.exec(row.value);
    if (choice) {
      const all = kinds.get(row.path) ?? [];
      all.push({ what: choice[1], word: choice[2], of: row.kind, meaning: row.about });
      kinds.set(row.path, all);
      continue;
    }
    if (row.value === "table" || row.value === "list of tables") continue;
    for (const path of places(row, known)) {
      if (!applies(row, path, known)) continue;
      const parts = segments(path);
      if (parts[0] === "traffic" && !isWritten(text, parts[1])) continue;
      const group = parts.length === 1 ? "run" : parts.slice(0, Math.min(GROUP_PARTS[parts[0]] ?? 1, parts.length - 1)).join(".");
      found.push({ ...row, of: row.path, path, group, said: known.get(path) ?? known.get(`${path}.kind`) ?? null });
    }
  }
  return { rows: found, kinds };
}

/** Rows that fit words: in their path or meaning, or in what people call it. */
export function search(rows, words, synonyms) {
  const wanted = words.toLowerCase().replaceAll("_", "-").split(/\s+/).filter(Boolean);
  const all = wanted.map((word) => [word, ...(synonyms[word] ?? [])]);
  return rows.filter((row) => {
    const text = `${row.path} ${row.about} ${row.kind} ${row.value}`.toLowerCase().replaceAll("_", "-");
    return all.every((some) => some.some((word) => text.includes(word)));
  });
}

/** The bounds of a key as numbers in a unit; null unless both are finite. */
export function ends(allowed, quantity, unit) {
  const both = /^(.+?) to (.+)$/.exec(allowed);
  if (!both) return null;
  const [min, max] = [quantity(both[1], unit), quantity(both[2], unit)];
  return Number.isFinite(min) && Number.isFinite(max) && max > min ? { min, max } : null;
}
