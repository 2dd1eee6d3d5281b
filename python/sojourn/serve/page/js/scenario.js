// What a scenario says, from the engine's complete print of it: paths and values as texts.

/** Paths and values of a canonical text, in its order. Entries of traffic go by their name. */
export function values(canonical) {
  const found = new Map();
  let section = "";
  let entry = "";
  for (const line of canonical.split("\n")) {
    const head = /^\[\[?([^\]]+)\]\]?$/.exec(line);
    if (head) {
      section = head[1];
      if (line.startsWith("[[")) entry = "";
      continue;
    }
    const said = /^([\w-]+) = (.*)$/.exec(line);
    if (!said) continue;
    const value = said[2].startsWith('"') ? JSON.parse(said[2]) : said[2];
    if (section === "traffic" && said[1] === "name") entry = value;
    const place = section.replace(/^traffic\b/, `traffic.${entry}`);
    found.set(place ? `${place}.${said[1]}` : said[1], value);
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

/** The sliders of a page that a scenario has keys for, with what they stand at. */
export function controls(sliders, canonical) {
  const known = values(canonical);
  const names = [...known.keys()].filter((path) => /^traffic\.[^.]+\.name$/.test(path));
  const found = [];
  for (const slider of sliders) {
    const places = slider.path.includes("*")
      ? names.map((path) => path.split(".")[1])
      : [null];
    for (const name of places) {
      const place = (path) => path.replace("*", name);
      const path = place(slider.path);
      const said = known.get(slider.kind ? place(slider.kind) : path);
      if (said === undefined) continue;
      if (slider.of && known.get(`traffic.${name}.app.kind`) !== slider.of) continue;
      const label = name === null ? slider.label : `${name}: ${slider.label}`;
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

/** Where a number stands on a slider: logarithmic if its ends are far apart. */
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
