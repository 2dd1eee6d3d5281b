// A lesson: guess, run, see both together, play, check. What was answered stays in this tab.

import { PANELS } from "./picture.js";
import { Controls, Pictures, Problems, Readings } from "./parts.js";
import { prepare } from "./prepare.js";
import { html, Later, render, signal } from "./view.js";

const SENSES = {
  call: ["Hear the call", () => import("./hear.js").then(({ Hear }) => Hear)],
  game: ["Feel the lag", () => import("./feel.js").then(({ Feel }) => Feel)],
};

const said = (value, unit) => {
  const figures = unit === "ms" ? (value < 10 ? 1 : 0) : unit === "packets" ? 0 : 1;
  return `${value.toFixed(figures)} ${unit}`.trim();
};

/** What the guess and the run have to do with each other, in words. */
export function compare(guess, value, unit, choices) {
  const is = said(value, unit);
  if (guess === null) return `It is ${is}.`;
  const away = (choice) => Math.abs(Number.parseFloat(choice) - value);
  const nearest = choices.reduce((best, choice) => (away(choice) < away(best) ? choice : best));
  if (guess === nearest) return `You said ${guess}, and it is ${is}: well guessed.`;
  const ratio = value / Number.parseFloat(guess);
  if (unit !== "ms") return `You said ${guess}, and it is ${is}.`;
  const times = ratio > 1 ? ratio : 1 / ratio;
  return `You said ${guess}, and it is ${is}: ${times.toFixed(times < 3 ? 1 : 0)} times as ${ratio > 1 ? "long" : "short"}.`;
}

function Choices({ name, legend, choices, chosen, onChoose, disabled }) {
  return html`<fieldset class="choices"><legend>${legend}</legend>
    ${choices.map((choice) => html`<label><input type="radio" name=${name} checked=${chosen === choice} disabled=${disabled}
      onChange=${() => onChoose(choice)} />${choice}</label>`)}</fieldset>`;
}

const guess = signal(undefined); // null: skipped
const picked = signal(null);
const decided = signal(false);
const checked = signal(null);

function Prose({ parts, name }) {
  // Built from Markdown when the page was made: moved here, not parsed.
  return html`<div class="prose" ref=${(place) => place && !place.firstChild && place.append(parts[name])}></div>`;
}

function Lesson({ model, about, parts }) {
  const run = model.a.run.value;
  const value = run?.metrics?.find(([subject, metric]) =>
    subject === about.answer.subject && metric === about.answer.metric)?.[2];
  const decide = async (said) => {
    guess.value = said;
    decided.value = true;
    model.a.settings.value = { ...about.at };
    await model.again();
  };
  const copy = () => navigator.clipboard.writeText(
    `${about.title}\nguess: ${guess.value ?? "none"}\ncheck: ${checked.value ?? "none"}\n`);
  return html`<article class="lesson">
    <h1>${about.title}</h1>
    <p class="steps">${about.heading}. ${about.minutes} minutes. Guess first, then run. <a href="teacher.html">For teachers</a></p>
    <${Prose} parts=${parts} name="hook" />
    <${Prose} parts=${parts} name="question" />
    <h2>Before you run it</h2>
    <p class="prose">${about.question}</p>
    <${Choices} name="guess" legend="Your guess" choices=${about.choose} chosen=${picked.value} disabled=${decided.value}
      onChoose=${(choice) => { picked.value = choice; }} />
    <button type="button" class="first" disabled=${decided.value || picked.value === null} onClick=${() => decide(picked.value)}>I have decided: run it</button>
    ${" "}<button type="button" disabled=${decided.value} onClick=${() => decide(null)}>Skip the guess</button>
    <h2>The run</h2>
    <p class="prose" role="status">${!decided.value ? "This is how it was before."
      : value === undefined ? "" : compare(model.same(about.at) ? guess.value : null, value, about.answer.unit, about.choose)}</p>
    <${Problems} model=${model} />
    <div class="explore">
      ${decided.value
        ? html`<${Controls} model=${model} side=${model.a} only=${[...about.controls, ...about.more_controls]} />`
        : html`<p>The slider comes when you have guessed.</p>`}
      <div><${Pictures} model=${model} panels=${PANELS.filter((panel) => !about.without?.includes(panel.key))} />
      ${run ? html`<${Readings} a=${run} />` : null}
      ${run && decided.value && about.sense ? html`<${Later} title=${SENSES[about.sense][0]} load=${SENSES[about.sense][1]} model=${model} />` : null}
      ${run && decided.value ? html`<${Later} title="The same with other seeds" load=${() => import("./seeds.js").then(({ Seeds }) => Seeds)} model=${model} />` : null}</div>
    </div>
    ${decided.value ? html`
      <h2>What you saw</h2><${Prose} parts=${parts} name="saw" />
      <h2>Why</h2><${Prose} parts=${parts} name="why" />
      <h2>Check</h2>
      <${Choices} name="check" legend=${about.check} choices=${about.check_choose} chosen=${checked.value}
        onChoose=${(choice) => { checked.value = choice; }} />
      <p role="status">${checked.value === null ? "" : checked.value === about.check_answer
        ? `Yes. ${about.check_yes}` : `Not this one. ${about.check_no}`}</p>
      <h2>What engineers do</h2><${Prose} parts=${parts} name="engineers" />
      <button type="button" onClick=${copy}>Copy my answers</button>` : null}
    <p class="status" role="status">${model.status.value}</p>
  </article>`;
}

export async function start(root) {
  const about = JSON.parse(document.getElementById("lesson").textContent);
  const parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
  const model = await prepare(`scenarios/${about.scenario}.toml`);
  model.a.settings.value = { ...about.start };
  root.replaceChildren();
  render(html`<${Lesson} model=${model} about=${about} parts=${parts} />`, root);
  await model.load();
}
