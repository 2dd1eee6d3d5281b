// What a page answers when a reader asks: values under the pointer, lanes on and off, tables in another order,
// and on a narrow screen a card for each row and a picture for each panel. Nothing is loaded, nothing is kept.
// A page without scripts shows the same numbers.
(() => {
  "use strict";
  const NARROW = matchMedia("(max-width: 560px)");
  const SVG = "http://www.w3.org/2000/svg";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- tables ---------------------------------------------------------------------------------------------------
  const valueOf = (cell) => {
    const text = ((cell && (cell.querySelector(".value") || cell.firstChild) || {}).textContent || "").trim();
    const number = parseFloat(text.replace(/,/g, "").replace(/^[^-\d.]+/, "").replace("−", "-"));
    return Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
    return typeof a === "number" ? -1 : 1;
  };
  const sortBy = (table, heading, column) => {
    const body = table.tBodies[0];
    const up = heading.getAttribute("aria-sort") !== "ascending";
    all("th", table.tHead).forEach((one) => one.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
  };
  const asButton = (element, action, role = "button") => {
    element.tabIndex = 0;
    if (role) element.setAttribute("role", role);
    element.addEventListener("click", action);
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      action();
    });
  };
  for (const table of all("table")) {
    if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 2) continue;
    const lines = [...table.tHead.rows];
    const names = [];
    for (const line of lines) {
      let column = 0;
      for (const heading of line.cells) {
        const words = heading.textContent.trim();
        for (let n = 0; n < heading.colSpan; n++, column++) {
          names[column] = [names[column], words].filter(Boolean).join(", ");
        }
        if (line === lines[lines.length - 1]) {
          const at = column - 1;
          asButton(heading, () => sortBy(table, heading, at), "");
          heading.title = "sort";
        }
      }
    }
    table.classList.add("sorts", "turns");
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, column) => {
        const printed = cell.classList.contains("print") ? ", printed" : "";
        if (column) cell.setAttribute("data-name", (names[column] || "") + printed);
        if (column && cell.textContent.trim() === "–") cell.classList.add("none");
      });
    }
  }

  // ---- figures --------------------------------------------------------------------------------------------------
  const tip = document.createElement("p");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  // The corners of a path, also of one that is written by its steps.
  const cornersOf = (path) => {
    let x = 0, y = 0;
    return (path.match(/[MLlhv][^A-Za-z]+/g) || []).map((part) => {
      const [a, b] = part.match(/-?[\d.]+/g).map(Number);
      if (part[0] === "h") x += a;
      else if (part[0] === "v") y += a;
      else [x, y] = part[0] === "l" ? [x + a, y + b] : [a, b];
      return [x, y];
    });
  };
  // Where a mark has its values: the places of its signs, or the corners of its path.
  const placesOf = (mark) => {
    if (mark.places) return mark.places;
    const signs = all("use", mark).map((one) => [+one.getAttribute("x") || 0, +one.getAttribute("y") || 0]);
    const paths = all("path", mark).filter((one) => one.closest("defs") === null || mark.dataset.band);
    const corners = paths.flatMap((one) => cornersOf(one.getAttribute("d") || ""));
    const isArea = signs.length === 1 && signs[0][0] === 0;
    mark.isArea = isArea;
    mark.isBar = !signs.length && paths.length === 1 && /z/i.test(paths[0].getAttribute("d") || "");
    if (isArea) {
      const path = mark.querySelector("defs path").getAttribute("d");
      mark.places = cornersOf(path).map(([x, y]) => [x, y + signs[0][1]]);
    } else mark.places = signs.length ? signs : corners;
    return mark.places;
  };
  const frameOf = (panel) => {
    if (!panel.frame) {
      const found = cornersOf(panel.querySelector("path").getAttribute("d"));
      const xs = found.map((one) => one[0]), ys = found.map((one) => one[1]);
      panel.frame = [Math.min(...xs), Math.max(...xs), Math.max(...ys), Math.min(...ys)];
    }
    return panel.frame;
  };
  const digits = (value) => (Math.abs(value) >= 1000 ? Math.round(value) : +value.toPrecision(3)).toLocaleString("en");
  const valueAt = (panel, side, place) => {
    const [left, right, low, high] = frameOf(panel);
    const ends = panel.dataset.ends.split(" ").map(Number);
    const [from, to, a, b] = side === "x" ? [left, right, ends[0], ends[1]] : [low, high, ends[2], ends[3]];
    const share = (place - from) / (to - from);
    return panel.dataset[side].startsWith("log") ? a * (b / a) ** share : a + share * (b - a);
  };
  // The words of a tick: of a row of dots they stand in the first panel of the line.
  const wordsAt = (panel, side, place) => {
    const sides = [panel, ...all("[data-ends]", panel.ownerSVGElement)];
    for (const one of sides) {
      const texts = all(`[data-side=${side}] text`, one).filter((text) => !text.hasAttribute("transform"));
      const near = texts.map((text) => [Math.abs(+text.getAttribute(side) - place), text.textContent]);
      near.sort((a, b) => a[0] - b[0]);
      if (near.length && near[0][0] < (side === "x" ? 8 : 40)) return near[0][1];
    }
    return "";
  };
  const read = (panel, side, place) => {
    const [scale, unit, quantity] = panel.dataset[side].split("|");
    if (scale === "words") return wordsAt(panel, side, place);
    return { value: valueAt(panel, side, place), unit, quantity };
  };
  const written = (found) =>
    typeof found === "string" ? found : `${digits(found.value)} ${found.unit}`.trim();
  const told = (panel, mark, [x, y]) => {
    const across = read(panel, "x", x), up = read(panel, "y", y);
    const rows = typeof up === "string";
    const words = [mark.dataset.mark || panel.dataset.title || "", rows ? up : ""].filter(Boolean);
    let value = mark.dataset.value || (rows ? written(across) : written(up));
    if (mark.isBar && rows && !mark.dataset.value) {
      const xs = mark.places.map((one) => one[0]);
      const width = valueAt(panel, "x", Math.max(...xs)) - valueAt(panel, "x", Math.min(...xs));
      value = `${digits(width)} ${across.unit}`;
    }
    const ends = [];
    for (const other of all("[data-mark]", panel)) {
      if (other === mark || other.dataset.mark !== mark.dataset.mark) continue;
      const places = placesOf(other);
      if (rows && !other.querySelector("use")) {
        places.forEach((one) => Math.abs(one[1] - y) < 0.05 && ends.push(valueAt(panel, "x", one[0])));
      } else if (other.isArea) {
        places.forEach((one) => Math.abs(one[0] - x) < 0.05 && ends.push(valueAt(panel, "y", one[1])));
      }
    }
    if (ends.length > 1 && !mark.isBar) value += ` (${digits(Math.min(...ends))} to ${digits(Math.max(...ends))})`;
    const where = rows && !mark.dataset.value ? "" : typeof across === "string" ? across : `${across.quantity} ${written(across)}`;
    return [words.join(", "), value, where && `at ${where.trim()}`].filter(Boolean);
  };
  const point = (svg, event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [place.x, place.y];
  };
  const nearest = (svg, [x, y]) => {
    let best = null, least = 14;
    for (const panel of all("[data-ends]", svg)) {
      const [left, right, low, high] = frameOf(panel);
      if (x < left - 6 || x > right + 6 || y > low + 6 || y < high - 6) continue;
      for (const mark of all("[data-mark]", panel)) {
        if (mark.style.visibility === "hidden") continue;
        const places = placesOf(mark);
        if (mark.isArea) continue;
        if (mark.isBar) {
          const xs = places.map((one) => one[0]), ys = places.map((one) => one[1]);
          if (x >= Math.min(...xs) && x <= Math.max(...xs) && y >= Math.min(...ys) && y <= Math.max(...ys)) {
            const at = mark.dataset.value ? (Math.min(...xs) + Math.max(...xs)) / 2 : Math.max(...xs);
            return [panel, mark, [at, (Math.min(...ys) + Math.max(...ys)) / 2]];
          }
          continue;
        }
        for (const place of places) {
          const away = Math.hypot(place[0] - x, place[1] - y) - (mark.querySelector("use") ? 2 : 0);
          if (away < least) [best, least] = [[panel, mark, place], away];
        }
      }
    }
    return best;
  };
  const show = (event) => {
    const svg = event.target.closest("figure svg");
    const found = svg && nearest(svg, point(svg, event));
    tip.hidden = !found;
    if (!found) return;
    tip.replaceChildren(...told(...found).map((words, n) => {
      const part = document.createElement(n === 1 ? "strong" : "span");
      part.textContent = words;
      return part;
    }));
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${Math.max(4, event.clientY - box.height - 12)}px`;
  };
  document.addEventListener("pointermove", show, { passive: true });
  document.addEventListener("pointerdown", show, { passive: true });
  document.addEventListener("scroll", () => (tip.hidden = true), { passive: true });

  const lanes = (figure) => {
    figure.off = new Set();
    for (const entry of all("[data-lane]", figure)) {
      const toggle = () => {
        const off = !figure.off.delete(entry.dataset.lane);
        if (off) figure.off.add(entry.dataset.lane);
        const same = (one) => one.dataset.lane === entry.dataset.lane;
        all("[data-mark]", figure).forEach((mark) => {
          if (mark.dataset.mark === entry.dataset.lane) mark.style.visibility = off ? "hidden" : "";
        });
        all("[data-lane]", figure).filter(same).forEach((one) => {
          one.style.opacity = off ? 0.35 : "";
          one.setAttribute("aria-pressed", String(!off));
        });
      };
      entry.classList.add("lane");
      if (entry.querySelector("text")) {
        entry.setAttribute("aria-pressed", "true");
        asButton(entry, toggle);
      } else entry.addEventListener("click", toggle);
    }
  };

  // A panel of its own on a narrow screen: as wide as the screen, with the names of its rows.
  const piece = (svg, parts, words) => {
    const made = document.createElementNS(SVG, "svg");
    made.append(...parts);
    svg.parentNode.insertBefore(made, svg);
    const base = made.getBoundingClientRect();
    const shown = all("text", made).map((one) => one.getBoundingClientRect());
    const panel = parts.find((one) => one.dataset.ends);
    if (panel) shown.push(panel.querySelector("path").getBoundingClientRect());
    else shown.push(parts[0].getBoundingClientRect());
    const least = (side) => Math.min(...shown.map((one) => one[side]));
    const most = (side) => Math.max(...shown.map((one) => one[side]));
    const [width, height] = [most("right") - least("left") + 8, most("bottom") - least("top") + 8];
    made.setAttribute("viewBox", [least("left") - base.left - 4, least("top") - base.top - 4, width, height].join(" "));
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", words);
    made.style.maxWidth = `${Math.round(width * 2.1)}px`;
    made.classList.add("piece");
  };
  const split = (figure) => {
    const svg = figure.querySelector("svg");
    if (!figure.offsetParent) return; // folded: nothing can be measured yet
    const panels = svg ? all("[data-ends]", svg) : [];
    if (panels.length < 2) return figure.classList.add("scroll"); // as wide as it can be read
    figure.whole = figure.whole || svg.cloneNode(true);
    const words = svg.getAttribute("aria-label");
    const titles = all("text", svg).filter((text) => !text.closest("[data-ends], [data-lane]"));
    const sides = panels.map((panel) => all("[data-side=y] text", panel).length && panel.querySelector("[data-side=y]"));
    const copies = panels.map((panel, n) => {
      const first = panels.findIndex((one, m) => sides[m] && frameOf(one)[2] === frameOf(panel)[2]);
      if (sides[n] || first < 0) return null;
      const copy = sides[first].cloneNode(true);
      const away = frameOf(panel)[0] - frameOf(panels[first])[0];
      all("path, use", copy).forEach((one) => one.remove());
      copy.setAttribute("transform", `translate(${away} 0)`);
      return copy;
    });
    if (titles.length) piece(svg, [titles[0]], words);
    panels.forEach((panel, n) => piece(svg, [copies[n], panel].filter(Boolean), panel.dataset.title || words));
    const legend = all("[data-lane]", svg);
    if (legend.length) piece(svg, [legend[0].parentNode], "legend");
    svg.classList.add("emptied");
  };
  const join = (figure) => {
    if (!figure.whole) return;
    all("svg.piece", figure).forEach((one) => one.remove());
    figure.querySelector("svg").replaceWith(figure.whole);
    figure.whole = null;
  };
  const fit = () => {
    for (const figure of all("figure")) {
      const again = !figure.off || (figure.whole && !NARROW.matches);
      if (!NARROW.matches) join(figure);
      else if (!figure.whole) split(figure);
      if (again) lanes(figure);
    }
  };
  fit();
  NARROW.addEventListener("change", fit);
  document.addEventListener("toggle", fit, true);
})();
