// What can be taken away: a scenario, a table, a picture, a notebook.

import { curvesOf, PANELS } from "./picture.js";

function save(name, parts, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(parts instanceof Blob ? parts : new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export const saveText = (text, name) => save(name, [text], "text/plain");

/** All curves that are seen, as one table. */
export function csv(sides) {
  const lines = ["side,panel,curve,unit,time_s,value"];
  const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  for (const [side, run] of sides) {
    for (const panel of PANELS) {
      const [x, curves] = curvesOf(panel, run);
      for (const [label, values] of curves) {
        x.forEach((at, row) => {
          if (values[row] != null) lines.push([side, panel.key, field(label), panel.unit, at, values[row]].join(","));
        });
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

export const saveCsv = (sides) => save("sojourn.csv", [csv(sides)], "text/csv");

/** A notebook without output: scenario, run, a figure. */
export function notebook(scenario, seed, name) {
  const cell = (type, source) => ({
    cell_type: type, id: `${type}-${source.length}`, metadata: {}, source: source.split(/(?<=\n)/),
    ...(type === "code" ? { execution_count: null, outputs: [] } : {}),
  });
  const quoted = JSON.stringify(scenario);
  const code = `from pathlib import Path\n\nimport sojourn\n\nPath("scenario.toml").write_text(${quoted})\n`
    + `result = sojourn.run("scenario.toml", seed=${seed})\nresult`;
  return JSON.stringify({
    nbformat: 4, nbformat_minor: 5,
    metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
    cells: [cell("markdown", `# ${name}`), cell("code", code)],
  }, null, 1);
}

export const saveNotebook = (...of) => save("sojourn.ipynb", [notebook(...of)], "application/json");

/** The panels as one picture, at twice their size, with title and version. */
export async function savePng(root, title, version) {
  const canvases = [...root.querySelectorAll(".panel")].map((panel) => [
    panel.querySelector("figcaption").textContent, panel.querySelector("canvas"),
  ]);
  const [margin, line] = [24, 44];
  const width = Math.max(...canvases.map(([, canvas]) => canvas.width)) + 2 * margin;
  const height = canvases.reduce((sum, [, canvas]) => sum + canvas.height + line, 2 * line);
  const picture = document.createElement("canvas");
  [picture.width, picture.height] = [width, height];
  const context = picture.getContext("2d");
  const style = getComputedStyle(document.body);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, width, height);
  context.fillStyle = style.color;
  const write = (text, at, size) => {
    context.font = `${size}px sans-serif`;
    context.fillText(text, margin, at);
  };
  write(title, 34, 26);
  let at = line + 10;
  for (const [caption, canvas] of canvases) {
    write(caption, at + 26, 22);
    context.drawImage(canvas, margin, at + line - 8);
    at += canvas.height + line;
  }
  write(`Sojourn ${version}`, at + 26, 18);
  save("sojourn.png", await new Promise((resolve) => picture.toBlob(resolve)), "image/png");
}
