// What a scenario says, from the engine's complete print of it: paths and values as texts.

/** The parts of a path; a name with other letters than those of keys stands in quotes. */
export const segments = (path) => path.match(/"(?:[^"\\]|\\.)*"|[^.]+/g) ?? [];

const quoted = (name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

/** The name that a part of a path stands for. */
export const plain = (part) => (part.startsWith('"') ? JSON.parse(part) : part);

/** Returns true if a file has an entry of this name: the engine names those of a `[[load]]`, and they have no place of their own. */
export const isWritten = (text, name) => text.includes(JSON.stringify(plain(name))) || text.includes(`'${plain(name)}'`);

/** Paths and values of a canonical text, in its order. Entries of traffic go by their name. */
export function values(canonical) {
  const found = new Map();
  const entries = new Map(); // the name of the last entry of each list
  let section = "";
  const place = () => {
    const parts = [];
    let list = "";
    for (const part of section ? section.split(".") : []) {
      list += (list ? "." : "") + part;
      parts.push(part, ...(entries.has(list) ? [entries.get(list)] : []));
    }
    return parts.join(".");
  };
  for (const line of canonical.split("\n")) {
    const head = /^\[\[?([^\]]+)\]\]?$/.exec(line);
    if (head) {
      section = head[1];
      if (line.startsWith("[[")) {
        for (const list of [...entries.keys()]) if (list === section || list.startsWith(`${section}.`)) entries.delete(list);
        entries.set(section, "");
      }
      continue;
    }
    const said = /^([\w-]+) = (.*)$/.exec(line);
    if (!said) continue;
    const value = said[2].startsWith('"') ? JSON.parse(said[2]) : said[2];
    if (said[1] === "name" && entries.has(section)) entries.set(section, quoted(value));
    found.set(section ? `${place()}.${said[1]}` : said[1], value);
  }
  return found;
}

const SCALES = {
  "Gb/s": 1e3, "Mb/s": 1, "kb/s": 1e-3, "b/s": 1e-6,
  s: 1e3, ms: 1, us: 1e-3, ns: 1e-6, ps: 1e-9, min: 6e4, h: 3.6e6,
  MB: 1e3, KB: 1, B: 1e-3, MiB: 1048.576, KiB: 1.024,
};

/** A quantity in the unit of a slider, or NaN. */
export function quantity(value, unit) {
  const said = /^([\d.e+-]+)\s*([A-Za-z/]*)$/.exec(value);
  if (!said) return NaN;
  if (!unit) return said[2] ? NaN : Number(said[1]);
  return (Number(said[1]) * SCALES[said[2]]) / SCALES[unit];
}

/** A number with three figures, as a slider writes it. */
export const rounded = (number) => Number(number.toPrecision(3));

/** The sliders of a page that a scenario has keys for, with their values. */
export function controls(sliders, canonical, text) {
  const known = values(canonical);
  const names = [...known.keys()].map(segments).filter(([list, , key, more]) => list === "traffic" && key === "name" && !more).map((parts) => parts[1])
    .filter((name) => isWritten(text, name));
  const found = [];
  for (const slider of sliders) {
    const places = slider.path.includes("*")
      ? names
      : [null];
    for (const name of places) {
      const place = (path) => path.replace("*", name);
      const path = place(slider.path);
      const said = known.get(slider.kind ? place(slider.kind) : path);
      if (said === undefined) continue;
      if (slider.of && known.get(`traffic.${name}.app.kind`) !== slider.of) continue;
      const label = name === null ? slider.label : `${plain(name)}: ${slider.label}`;
      if (slider.choices) {
        const choices = slider.choices.includes(said) ? slider.choices : [said, ...slider.choices];
        found.push({ ...slider, path, label, choices, said });
        continue;
      }
      const number = quantity(said, slider.unit);
      if (Number.isNaN(number)) continue;
      found.push({
        ...slider, path, label, said, number,
        min: Math.min(slider.min, number), max: Math.max(slider.max, number),
      });
    }
  }
  return found;
}

/** Steps of a slider that runs over powers. */
export const STEPS = 200;

/** Returns the position of a number on a slider: logarithmic if its ends are far apart. */
export function position({ min, max, whole }, number) {
  if (whole) return number;
  if (min > 0 && max / min > 50) return Math.round((STEPS * Math.log(number / min)) / Math.log(max / min));
  return Math.round((STEPS * (number - min)) / (max - min));
}

/** The number at a place of a slider. */
export function numberAt({ min, max, whole }, place) {
  if (whole) return place;
  if (place <= 0) return min;
  if (place >= STEPS) return max;
  return rounded(min > 0 && max / min > 50 ? min * (max / min) ** (place / STEPS) : min + ((max - min) * place) / STEPS);
}
