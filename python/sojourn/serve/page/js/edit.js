// A setting in the text of a scenario: the value changes, comments and order stay. This reads most of TOML and not all of it, so the
// caller asks the engine whether the text means what was meant, and otherwise takes the engine's own print.

/** Returns the end of a value that begins at `at`: strings, lists and tables as a whole. */
function valueEnd(text, at) {
  let depth = 0;
  for (let place = at; place < text.length; place++) {
    const letter = text[place];
    if (letter === '"' || letter === "'") {
      const long = text.startsWith(letter.repeat(3), place);
      const quote = long ? letter.repeat(3) : letter;
      let end = place + quote.length;
      while (end < text.length && !text.startsWith(quote, end)) end += letter === '"' && text[end] === "\\" ? 2 : 1;
      place = end + quote.length - 1;
      if (!depth) return place + 1;
    } else if (letter === "[" || letter === "{") depth += 1;
    else if (letter === "]" || letter === "}") {
      if (!depth) return place;
      depth -= 1;
      if (!depth) return place + 1;
    } else if (letter === "#" && depth) {
      const end = text.indexOf("\n", place);
      place = end < 0 ? text.length : end;
    } else if (!depth && (letter === "\n" || letter === "#" || letter === ",")) {
      return at + text.slice(at, place).trimEnd().length;
    }
  }
  return text.trimEnd().length;
}

const KEY = /(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')/;
const DOTTED = new RegExp(`^\\s*(${KEY.source}(?:\\s*\\.\\s*${KEY.source})*)\\s*=\\s*`);
const parts = (dotted) => (dotted.match(new RegExp(KEY.source, "g")) ?? []).map((part) => (/^["']/.test(part) ? part.slice(1, -1) : part));

/** All keys, each with its table and the place of its value; and all tables, each with its path, in which entries go by their name. */
export function keys(text) {
  const found = [];
  const tables = [];
  let table = { path: [], list: false, name: null, end: 0 };
  tables.push(table);
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
    const line = text.slice(at, end);
    const head = /^\s*(\[\[?)([^\]]+)\]\]?/.exec(line);
    const key = head ? null : DOTTED.exec(line);
    let next = end + 1;
    if (head) {
      table = { path: parts(head[2]), list: head[1] === "[[", name: null, start: at, end: Math.min(next, text.length) };
      tables.push(table);
    } else if (key) {
      const from = at + key[0].length;
      const until = valueEnd(text, from);
      const own = parts(key[1]);
      found.push({ table, own, from, until });
      if (table.list && own.length === 1 && own[0] === "name") table.name = text.slice(from, until).replace(/^["']|["']$/g, "");
      const newline = text.indexOf("\n", until);
      next = newline < 0 ? text.length : newline + 1;
      table.end = next;
    }
    at = next;
  }
  // A table below an entry of a list belongs to the entry that came last.
  const last = new Map();
  for (const one of tables) {
    if (one.list) last.set(one.path.join("."), one);
    const full = [];
    one.path.forEach((part, place) => {
      full.push(part);
      const entry = last.get(one.path.slice(0, place + 1).join("."));
      if (entry?.name !== undefined && entry.name !== null) full.push(entry.name);
    });
    one.full = full;
  }
  return { found, tables };
}

const starts = (path, prefix) => prefix.length <= path.length && prefix.every((part, place) => part === path[place]);
const bare = (part) => (/^[\w-]+$/.test(part) ? part : JSON.stringify(part));
const dotted = (path) => path.map(bare).join(".");

/** A value as TOML: it stays if it is TOML already, and becomes a text otherwise. */
export const spelt = (value) =>
  /^(true|false|[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?|".*"|'.*'|\[.*\]|\{.*\})$/s.test(value.trim()) ? value.trim() : JSON.stringify(value);

/** A value with a key in it: an inline table, or the word of a kind, which becomes one. */
function within(value, path, said) {
  if (!value.startsWith("{")) return `{ kind = ${value}, ${dotted(path)} = ${said} }`;
  let at = 1;
  while (at < value.length) {
    const key = DOTTED.exec(value.slice(at));
    if (!key) break;
    const from = at + key[0].length;
    const until = valueEnd(value, from);
    const own = parts(key[1]);
    if (starts(path, own)) {
      const inner = path.length === own.length ? said : within(value.slice(from, until), path.slice(own.length), said);
      return value.slice(0, from) + inner + value.slice(until);
    }
    at = until + (/^\s*,/.exec(value.slice(until))?.[0].length ?? 1);
  }
  const body = value.slice(1, -1).trimEnd();
  return `{${body}${body.trim() ? "," : ""} ${dotted(path)} = ${said} }`;
}

/** The text with a value at a path, or null if there is no place for it. */
export function edit(text, path, value) {
  const wanted = parts(path);
  const said = spelt(value);
  const { found, tables } = keys(text);
  const at = ({ table, own }) => [...table.full, ...own];
  const present = found.filter((one) => starts(wanted, at(one))).sort((a, b) => at(b).length - at(a).length)[0];
  if (present) {
    const rest = wanted.slice(at(present).length);
    const before = text.slice(present.from, present.until);
    return text.slice(0, present.from) + (rest.length ? within(before, rest, said) : said) + text.slice(present.until);
  }
  // A table that is replaced as a whole is more than a value.
  if (tables.some(({ full }) => starts(full, wanted))) return null;
  const home = tables.filter(({ full }) => starts(wanted, full) && full.length < wanted.length).sort((a, b) => b.full.length - a.full.length)[0];
  const rest = wanted.slice(home.full.length);
  if (rest[0] === "traffic" || rest[0] === "link" || rest[0] === "home") return null; // a new entry
  const before = text.slice(0, home.end);
  return `${before}${before && !before.endsWith("\n") ? "\n" : ""}${dotted(rest)} = ${said}\n${text.slice(home.end)}`;
}

/** Returns the range of an entry of traffic in a text: from its heading to the next one that is not below it; null if it is not there. */
export function entry(text, name) {
  const { tables } = keys(text);
  const place = tables.findIndex((table) => table.list && table.path.join(".") === "traffic" && table.name === name);
  if (place < 0) return null;
  const next = tables.slice(place + 1).find(({ path, list }) => path[0] !== "traffic" || (list && path.length === 1));
  return { from: tables[place].start, until: next ? next.start : text.length };
}

/** The text without an entry, with a copy of it, or with a new one. */
export function without(text, name) {
  const found = entry(text, name);
  return found ? text.slice(0, found.from) + text.slice(found.until) : text;
}

export function copied(text, name, other) {
  const found = entry(text, name);
  if (!found) return text;
  const block = text.slice(found.from, found.until).trimEnd();
  const named = block.replace(/^(\s*name\s*=\s*).*$/m, (_, start) => start + JSON.stringify(other));
  return `${text.slice(0, found.until).trimEnd()}\n\n${named}\n\n${text.slice(found.until)}`.trimEnd() + "\n";
}

export const renamed = (text, name, other) => edit(text, `traffic.${bare(name)}.name`, JSON.stringify(other)) ?? text;

export const added = (text, name, app) =>
  `${text.trimEnd()}\n\n[[traffic]]\nname = ${JSON.stringify(name)}\napp = ${JSON.stringify(app)}\nrtt = "20 ms"\n`;
