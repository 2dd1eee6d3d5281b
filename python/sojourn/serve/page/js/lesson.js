// A lesson: guess, run, see both together, play, check. What was answered stays in this tab.

import { PANELS } from "./picture.js";
import { Controls, Pictures, Problems, Readings } from "./parts.js";
import { prepare } from "./prepare.js";
import { html, Later, render, signal, useRef } from "./view.js";

const SENSES = {
  call: ["Hear the call", () => import("./hear.js").then(({ Hear }) => Hear)],
  game: ["Feel the lag", () => import("./feel.js").then(({ Feel }) => Feel)],
};

const said = (value, unit) => {
  const figures = unit === "ms" ? (value < 10 ? 1 : 0) : unit === "packets" ? 0 : 1;
  return `${value.toFixed(figures)} ${unit}`.trim();
};

/** Compares the guess with the run, in words. */
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

const guess = signal(null); // null: skipped
const picked = signal(null);
const decided = signal(false);
const checked = signal(null);
const copied = signal("");

/** Answers of this lesson, as this tab remembers them; empty where a browser keeps nothing. */
const memory = (name) => {
  const key = `sojourn-lesson-${name}`;
  return {
    read() {
      try {
        return JSON.parse(sessionStorage.getItem(key)) ?? {};
      } catch {
        return {};
      }
    },
    write(answers) {
      try {
        sessionStorage.setItem(key, JSON.stringify(answers));
      } catch {
        // The answers stay until the page is left.
      }
    },
  };
};

function Prose({ parts, name }) {
  // Built from Markdown when the page was made: moved here, not parsed.
  return html`<div class="prose" ref=${(place) => {
    if (!place || place.firstChild) return;
    parts[name].hidden = false;
    place.append(parts[name]);
  }}></div>`;
}

/** Buttons for the runs that a text quotes; the one that is shown is pressed. */
function Runs({ model, runs }) {
  return html`<div class="bar" role="group" aria-label="Runs of this lesson">${runs.map(({ label, settings }) => html`<button type="button"
    aria-pressed=${model.same(settings)} onClick=${() => {
      model.remember(model.a);
      model.a.settings.value = { ...settings };
      model.again();
    }}>${label}</button>`)}</div>`;
}

function Lesson({ model, about, parts, kept }) {
  const run = model.a.run.value;
  const value = run?.metrics?.find(([subject, metric]) =>
    subject === about.answer.subject && metric === about.answer.metric)?.[2];
  const keep = () => kept.write({ guess: guess.value, decided: decided.value, checked: checked.value });
  const heading = useRef(null);
  const decide = async (said) => {
    guess.value = said;
    decided.value = true;
    keep();
    heading.current?.focus();
    model.a.settings.value = { ...about.at };
    await model.again();
  };
  const answers = `${about.title}\nguess: ${guess.value ?? "none"}\ncheck: ${checked.value ?? "none"}\n`;
  // A browser has a clipboard for pages only where the connection is encrypted or local.
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(answers);
      copied.value = "The answers are copied.";
    } catch {
      copied.value = "This browser does not let the page copy here. Take the answers from this box:";
    }
  };
  return html`<article class="lesson">
    <h1>${about.title}</h1>
    <p class="steps">${about.heading}. ${about.minutes} minutes. Guess first, then run.${about.answers ? html` <a href="teacher.html">For teachers</a>` : null}</p>
    <${Prose} parts=${parts} name="hook" />
    <${Prose} parts=${parts} name="question" />
    <h2>Before you run it</h2>
    <p class="prose">${about.question}</p>
    <${Choices} name="guess" legend="Your guess" choices=${about.choose} chosen=${picked.value} disabled=${decided.value}
      onChoose=${(choice) => { picked.value = choice; }} />
    <button type="button" class="first" disabled=${decided.value || picked.value === null} onClick=${() => decide(picked.value)}>I have decided: run it</button>
    ${" "}<button type="button" disabled=${decided.value} onClick=${() => decide(null)}>Skip the guess</button>
    <h2 tabindex="-1" ref=${heading}>The run</h2>
    <p class="prose" role="status">${!decided.value ? "This is how it was before."
      : value === undefined ? "" : compare(model.same(about.at) ? guess.value : null, value, about.answer.unit, about.choose)}</p>
    <${Problems} model=${model} />
    <div class="explore">
      ${decided.value
        ? html`<${Controls} model=${model} side=${model.a} only=${[...about.controls, ...about.more_controls]} />`
        : html`<p>The slider comes when you have guessed.</p>`}
      <div><${Pictures} model=${model} panels=${PANELS.filter((panel) => !about.without?.includes(panel.key))} />
      ${run ? html`<${Readings} a=${run} />` : null}
      ${run && decided.value ? html`${about.sense ? html`<${Later} title=${SENSES[about.sense][0]} load=${SENSES[about.sense][1]} model=${model} />` : null}
        <${Later} title="The same with other seeds" load=${() => import("./seeds.js").then(({ Seeds }) => Seeds)} model=${model} />` : null}</div>
    </div>
    ${decided.value ? html`
      <h2>What you saw</h2><${Prose} parts=${parts} name="saw" />
      <${Runs} model=${model} runs=${about.runs} />
      <h2>Why</h2><${Prose} parts=${parts} name="why" />
      <h2>Check</h2>
      <${Choices} name="check" legend=${about.check} choices=${about.check_choose} chosen=${checked.value}
        onChoose=${(choice) => { checked.value = choice; keep(); }} />
      <p role="status">${checked.value === null ? "" : checked.value === about.check_answer
        ? `Yes. ${about.check_yes}` : `Not this one. ${about.check_no}`}</p>
      <h2>What engineers do</h2><${Prose} parts=${parts} name="engineers" />
      <div class="bar"><button type="button" onClick=${copy}>Copy my answers</button> <span role="status">${copied.value}</span></div>
      ${copied.value.endsWith(":") ? html`<textarea readonly rows="4" aria-label="My answers" value=${answers}
        ref=${(place) => place?.select()}></textarea>` : null}
      <p>${about.next ? html`Next lesson: <a href=${`../${about.next.name}/index.html`}>${about.next.title}</a>`
        : html`This was the last lesson. <a href="../../explore.html">Explore a line of your own</a>`}</p>` : null}
    <p class="status" role="status">${model.status.value}</p>
  </article>`;
}

export async function start(root) {
  const about = { ...JSON.parse(document.getElementById("lesson").textContent), answers: "answers" in root.dataset };
  const parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
  const model = await prepare(`scenarios/${about.scenario}.toml`);
  const kept = memory(root.dataset.lesson);
  const answers = kept.read();
  decided.value = answers.decided === true;
  guess.value = picked.value = about.choose.includes(answers.guess) ? answers.guess : null;
  checked.value = about.check_choose.includes(answers.checked) ? answers.checked : null;
  model.a.settings.value = { ...(decided.value ? about.at : about.start) };
  root.replaceChildren();
  render(html`<${Lesson} model=${model} about=${about} parts=${parts} kept=${kept} />`, root);
  await model.load();
}
