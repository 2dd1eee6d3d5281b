// The first page: a run before anything is clicked, one slider, and where to go from here.

import { PANELS } from "./picture.js";
import { Controls, Pictures, Problems, Readings } from "./parts.js";
import { isLink, prepare } from "./prepare.js";
import { ask, served } from "./server.js";
import { html, Later, render, useEffect, useState } from "./view.js";

const BUFFER = "access.upstream.queue.limit";

/** The first of the results that our own server has. */
function Recent() {
  const [found, show] = useState(null);
  useEffect(() => {
    ask("results").then(({ results }) => show(results.slice(0, 5)), (error) => show(error.message));
  }, []);
  if (found === null) return null;
  return html`<section><h2>Look at results</h2>
    ${typeof found === "string" ? html`<p>${found}</p>` : found.length === 0
      ? html`<p>There are none yet. <a href="results.html">Run a study</a></p>`
      : html`<ul>${found.map(({ id, name, label }) =>
          html`<li><a href=${`results.html#result=${id}`}>${name}</a> ${label}</li>`)}</ul>
        <p><a href="results.html">All results and studies</a></p>`}
  </section>`;
}

function Play({ model }) {
  const run = model.a.run.value;
  return html`<div class="explore">
    <${Controls} model=${model} side=${model.a} only=${[BUFFER]} />
    <div><${Problems} model=${model} />
      <${Pictures} model=${model} panels=${PANELS.filter((panel) => panel.key === "delay")} />
      ${run ? html`<${Readings} a=${run} />` : null}
      ${run ? html`<${Later} title="Hear it" load=${() => import("./hear.js").then(({ Hear }) => Hear)} model=${model} />` : null}</div>
  </div>
  <p class="status" role="status">${model.status.value}</p>`;
}

export async function start(root) {
  if (isLink(location.hash)) {
    location.replace(`explore.html${location.hash}`); // a link from an earlier page
    return;
  }
  const model = await prepare("scenarios/lesson-buffer.toml");
  model.a.settings.value = { [BUFFER]: "1 MB" };
  const place = root.querySelector('[data-part="play"]');
  place.replaceChildren();
  render(html`<${Play} model=${model} />`, place);
  if (served) {
    const recent = document.createElement("div");
    root.querySelector('[data-part="doors"]').append(recent);
    render(html`<${Recent} />`, recent);
  }
  await model.load();
}
