// Results and studies of our own server: look, play a run again, begin a study, cancel it.

import { rememberStored } from "./stored.js";
import { ask, wanted } from "./server.js";
import { html, render, signal, useEffect, useState } from "./view.js";

const results = signal([]);
const jobs = signal([]);
const shown = signal(null);
const trouble = signal("");
const said = signal("");

const POLL_MS = 500;
const ROWS = 200;

/** Does something and says what went wrong. */
async function attempt(action) {
  try {
    trouble.value = "";
    return await action();
  } catch (error) {
    trouble.value = error.message;
    return null;
  }
}

const look = (id) => attempt(async () => {
  shown.value = await ask(`results/${id}`);
  history.replaceState(null, "", `#result=${id}`);
});

/** Opens a run in Explore, with what was stored of it. */
const play = (path) => attempt(async () => {
  const run = await ask(path);
  await rememberStored(run);
});

const number = (value) => (typeof value !== "number" ? value ?? "" : Number.isInteger(value) ? value : Number(value.toPrecision(5)));

function Filter({ label, onChange, value }) {
  return html`<label>${label} <input type="text" value=${value} onInput=${(event) => onChange(event.target.value)} /></label>`;
}

function Results() {
  const [query, filter] = useState("");
  const found = results.value.filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(query.toLowerCase()));
  return html`<section><h2>Results</h2>
    <${Filter} label="with the words" value=${query} onChange=${filter} />
    ${found.length === 0 ? html`<p>${results.value.length ? "None has these words." : "There are none yet: run a study."}</p>` : html`
    <div class="scroll" tabindex="0" role="region" aria-label="Results"><table><thead><tr><th scope="col">result</th><th scope="col" class="text">when</th><th scope="col">runs</th></tr></thead>
      <tbody>${found.map(({ id, name, label, runs, quick, damage }) => html`<tr>
        <th scope="row"><button type="button" class="link" aria-pressed=${shown.value?.id === id} onClick=${() => look(id)}>${name}</button></th>
        <td class="text">${label}${quick ? ", quick" : ""}${damage ? html`<br /><span class="bad">${damage}</span>` : null}</td><td>${runs ?? ""}</td></tr>`)}</tbody></table></div>`}
  </section>`;
}

function Table({ columns, rows }) {
  const [query, filter] = useState("");
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => {
    const line = row.join(" ").toLowerCase();
    return words.every((word) => line.includes(word));
  });
  const texts = columns.map((_, column) => rows.some((row) => typeof row[column] === "string"));
  const save = () => {
    const field = (cell) => (/[",\n]/.test(String(cell ?? "")) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell ?? ""));
    const text = [columns, ...found].map((row) => row.map(field).join(",")).join("\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" }));
    link.download = "table.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  return html`<div class="bar"><${Filter} label="rows with the words" value=${query} onChange=${filter} />
    <button type="button" onClick=${save}>Download table</button></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Values"><table>
      <thead><tr>${columns.map((name, column) => html`<th scope="col" class=${texts[column] ? "text" : ""}>${name}</th>`)}</tr></thead>
      <tbody>${found.slice(0, ROWS).map((row) => html`<tr>${row.map((cell, column) => html`<td class=${texts[column] ? "text" : ""}>${number(cell)}</td>`)}</tr>`)}</tbody>
    </table></div>
    ${found.length > ROWS ? html`<p>The first ${ROWS} of ${found.length} rows: more words show fewer.</p>` : null}`;
}

function One() {
  const result = shown.value;
  if (!result) return null;
  return html`<section aria-label="The result"><h2>${result.name}</h2>
    <p>${result.place}</p>
    ${result.damages.length ? html`<ul class="problems">${result.damages.map((one) => html`<li>${one}</li>`)}</ul>` : null}
    <${Table} key=${result.id} columns=${result.columns} rows=${result.rows} />
    ${result.kind === "run" ? html`<p><button type="button" onClick=${() => play(`results/${result.id}/run`)}>Play it live</button></p>` : null}
    ${result.runs.some(({ key }) => key) ? html`<details><summary>Runs, to be played live</summary>
      <ul class="runs">${result.runs.slice(0, ROWS).map(({ point, seed, key }) => html`<li>
        <button type="button" class="link" onClick=${() => play(`runs/${key}`)}>${point}, seed ${seed}</button></li>`)}</ul></details>` : null}
    ${result.report ? html`<details><summary>Report</summary>
      <iframe title="Report" sandbox="" src=${result.report} loading="lazy"></iframe></details>` : null}
  </section>`;
}

function Stored() {
  const [query, ask_for] = useState("");
  const [page, show] = useState(null);
  const find = (after = "") => attempt(async () => show(await ask(`runs?${new URLSearchParams({ q: query, after })}`)));
  return html`<section><h2>Runs of the store</h2>
    <form class="bar" onSubmit=${(event) => { event.preventDefault(); find(); }}>
      <${Filter} label="scenario" value=${query} onChange=${ask_for} /><button type="submit">Find</button></form>
    ${page === null ? null : page.runs.length === 0 ? html`<p>None.</p>` : html`
      <ul class="runs">${page.runs.map(({ key, name, seed, simulated_s }) => html`<li>
        <button type="button" class="link" onClick=${() => play(`runs/${key}`)}>${name || key.slice(0, 12)}, seed ${seed}, ${number(simulated_s)} s</button></li>`)}</ul>
      ${page.more ? html`<button type="button" onClick=${() => find(page.more)}>The next ones</button>` : null}`}
  </section>`;
}

const STATES = { waiting: "waits", running: "runs", done: "done", failed: "failed", cancelled: "cancelled" };

function Job({ job }) {
  const left = job.left_s === null ? "" : `, about ${job.left_s < 90 ? `${Math.ceil(job.left_s)} s` : `${Math.ceil(job.left_s / 60)} min`} left`;
  const active = job.state === "waiting" || job.state === "running";
  return html`<li><b>${job.study}</b>${job.quick ? ", quick" : ""}: ${STATES[job.state]}${job.total ? `, ${job.done} of ${job.total} runs` : ""}${left}
    ${job.state === "running" && job.total ? html`<progress max=${job.total} value=${job.done} aria-label=${`Runs of ${job.study}`}></progress>` : null}
    ${active ? html`<button type="button" onClick=${() => attempt(async () => { await ask(`jobs/${job.id}`, { method: "DELETE" }); await refresh(); })}>Cancel ${job.study}</button>` : null}
    ${job.words.length ? html`<details open=${job.state === "failed"}><summary>Its messages</summary><pre tabindex="0">${job.words.join("\n")}</pre></details>` : null}</li>`;
}

function Studies({ studies, may }) {
  const [study, choose] = useState(studies[0]?.id ?? "");
  const [quick, set] = useState(true);
  const [seeds, several] = useState("");
  const begin = (event) => {
    event.preventDefault();
    attempt(async () => {
      const order = { study, quick, ...(seeds ? { seeds: Number(seeds) } : {}) };
      const job = await ask("jobs", { method: "POST", body: order });
      said.value = `${job.study} was begun.`;
      await refresh();
    });
  };
  return html`<section><h2>Studies</h2>
    ${may ? html`<form class="bar" onSubmit=${begin}>
      <label>study <select value=${study} onChange=${(event) => choose(event.target.value)}>
        ${studies.map(({ id, name, title }) => html`<option value=${id} title=${title}>${name}</option>`)}</select></label>
      <label class="check"><input type="checkbox" checked=${quick} onChange=${(event) => set(event.target.checked)} />quick: shorter runs, fewer seeds</label>
      <label>seeds <input class="seed" type="number" min="1" max="1000000" value=${seeds} onInput=${(event) => several(event.target.value)} /></label>
      <button type="submit">Run</button></form>
      <p>${studies.find(({ id }) => id === study)?.title ?? ""}</p>`
      : html`<p>This server only shows: it was started with --read-only.</p>`}
    <ul class="jobs">${jobs.value.map((job) => html`<${Job} key=${job.id} job=${job} />`)}</ul>
    <p role="status">${said.value}</p>
  </section>`;
}

let before = "";

/** Asks how far studies are; when one has ended, what results there are now. */
async function refresh() {
  jobs.value = (await ask("jobs")).jobs;
  const states = jobs.value.map(({ id, state }) => id + state).join();
  if (states === before) return;
  const ended = jobs.value.find(({ id, state }) => state !== "running" && before.includes(`${id}running`));
  if (ended) said.value = `${ended.study}: ${STATES[ended.state]}.`;
  before = states;
  results.value = (await ask("results")).results;
}

function Page({ studies, may }) {
  useEffect(() => {
    const timer = setInterval(() => {
      if (jobs.value.some(({ state }) => state === "running" || state === "waiting")) attempt(refresh);
    }, POLL_MS);
    return () => clearInterval(timer);
  }, []);
  return html`<h1>Results and studies</h1>
    ${trouble.value ? html`<p class="problems" role="alert">${trouble.value}</p>` : null}
    <div class="two"><div><${Results} /><${Studies} studies=${studies} may=${may} /><${Stored} /></div><div><${One} /></div></div>`;
}

export async function start(root) {
  const [{ studies }, hello] = await Promise.all([ask("studies"), ask("hello")]);
  await refresh();
  results.value = (await ask("results")).results;
  root.replaceChildren();
  render(html`<${Page} studies=${studies} may=${hello.jobs} />`, root);
  if (wanted.result) await look(wanted.result);
}
