// Hear and feel: a call and a game behind an upload, with a long buffer and with a queue for each flow.

import { Controls, Pictures, Problems, Readings } from "./parts.js";
import { prepare } from "./prepare.js";
import { Feel } from "./feel.js";
import { Hear } from "./hear.js";
import { PANELS } from "./picture.js";
import { html, render } from "./view.js";

const [QUEUE, LIMIT] = ["access.upstream.queue", "access.upstream.queue.limit"];

function Senses({ model }) {
  const [a, b] = [model.a.run.value, model.b?.run.value ?? null];
  return html`<h1>Hear the call, feel the lag</h1>
    <p class="prose">An upload, a call and a game share a line of 10 Mb/s. In A all wait in one queue; in B each has a queue of its own. The model
      says when each packet comes, and you hear and feel just that. Nothing sounds or moves before you press.</p>
    <${Problems} model=${model} />
    ${b ? html`<h2>Hear the call</h2><${Hear} model=${model} /><h2>Feel the lag</h2><${Feel} model=${model} />`
      : html`<p class="waiting">The engine is being loaded.</p>`}
    ${a ? html`<h2>What you hear and feel</h2>
      <div class="explore"><div>${[model.a, model.b].filter(Boolean).map((side) => html`<h3>${side.name}</h3>
        <${Controls} model=${model} side=${side} only=${[QUEUE, LIMIT]} />`)}</div>
      <div><${Pictures} model=${model} panels=${PANELS.filter(({ key }) => key === "queue" || key === "delay")} />
        <${Readings} a=${a} b=${b} /></div></div>` : null}
    <p class="status" role="status">${model.status.value}</p>`;
}

export async function start(root) {
  const model = await prepare("scenarios/lesson-lag.toml");
  if (!Object.keys(model.a.settings.value).length && !model.b) {
    model.a.settings.value = { [LIMIT]: "1 MB" };
    model.beside({ [QUEUE]: "fq-codel" });
  }
  root.replaceChildren();
  render(html`<${Senses} model=${model} />`, root);
  await model.load();
}
