// Hear the call, and the queue as a tone. What is heard is what the model says was lost or late.

import { queueShown } from "./picture.js";
import { also, louder, play, stop } from "./player.js";
import { drum, fates, heard, phrase, tones } from "./sound.js";
import { html, useEffect, useState } from "./view.js";

const SHOWN = 30; // frames in the strip: 0.6 s
const FATES = ["in time", "late", "lost"];

/** The calls of a run: flows of packets whose entry has a score. */
export const calls = (run) => run.flows
  .map((flow, number) => ({ ...flow, packets: run.packets[number] }))
  .filter(({ traffic }) => run.metrics?.some(([subject, metric]) => subject === traffic && metric === "mos"));

/** The delay in ms of the first packet of a flow that is sent at a time or later; infinite if it was lost, null if there is none. */
export function delayAt(packets, ms) {
  const [sent, delays] = packets.columns;
  const place = sent.findIndex((at) => at >= ms);
  return place < 0 || Number.isNaN(delays[place]) ? null : delays[place];
}

/** How long the answer to a word that is said at a time takes: up the line and down again; ms, infinite or null as above. */
export function answerAfter(run, traffic, ms) {
  const way = (direction) => calls(run).find((flow) => flow.traffic === traffic && flow.direction === direction)?.packets;
  const [up, down] = [way("upstream"), way("downstream")];
  const there = up ? delayAt(up, ms) : 0;
  if (there === null || there === Infinity || !down) return there;
  const back = delayAt(down, ms + there);
  return back === null ? null : there + back;
}

let said = null;

function Strip({ packets, at }) {
  const [sent] = packets.columns;
  let last = sent.findIndex((ms) => ms > at * 1000);
  if (last < 0) last = packets.rows;
  const shown = fates(packets).slice(Math.max(0, last - SHOWN), last);
  const count = (fate) => shown.filter((one) => one === fate).length;
  return html`<div class="strip" role="img" aria-label=${`Of the last ${shown.length} packets ${count(0)} in time, ${count(1)} late, ${count(2)} lost.`}>
    ${shown.map((fate) => html`<span class=${`fate-${fate}`}></span>`)}</div>`;
}

function waiting(run) {
  const series = run.series.find((one) => one.kind === "backlog" && one.link === queueShown(run));
  const bytes = series.columns[series.names.indexOf("most_bytes")];
  const at = Float64Array.from(bytes, (_, row) => (series.first + row) * series.width);
  const [times, , , marked] = run.ticks.columns;
  const ticks = Array.from({ length: run.ticks.rows }, (_, row) => ({ s: times[row] / 1000, marked: marked[row] > 0 }));
  return { at, bytes, ticks };
}

const listenerOf = (direction) => (direction === "upstream" ? "as the other end hears it" : "as it is heard here");

/** The panel: A, and B if it is there. */
export function Hear({ model }) {
  const [now, show] = useState(null); // which side and what is heard
  const [volume, set] = useState(0.7);
  const [way, choose] = useState(0);
  const [told, tell] = useState("");
  const [a, b] = [model.a.run.value, model.b?.run.value ?? null];
  // A slider has changed what is heard: it is not this run any more.
  useEffect(() => stop, [a, b]);
  const runs = [["A", a], ["B", b]].filter(([, run]) => run);
  if (!runs.length) return null;
  const flows = calls(runs[0][1]);
  const flow = flows[Math.min(way, flows.length - 1)];
  const packets = (run) => calls(run).find((one) => one.traffic === flow.traffic && one.direction === flow.direction)?.packets;
  const listen = (name, samples) => {
    const from = model.cursor.value === null || model.cursor.value >= runs[0][1].until - 1 ? 0 : model.cursor.value;
    show(name);
    play(samples, { from, volume, tick: (at) => { model.cursor.value = at; }, ended: () => show(null) });
  };
  const call = (name, run) => listen(`call ${name}`, [heard(packets(run), (said ??= phrase()))]);
  const queue = () => {
    const found = runs.map(([, run]) => waiting(run));
    const most = Math.max(...found.map(({ bytes }) => bytes.reduce((most, one) => Math.max(most, one), 0)));
    const sides = found.map((one) => tones({ ...one, most, seconds: runs[0][1].seconds }));
    listen("queue", sides.length > 1 ? sides : [sides[0], sides[0]]);
  };
  const talk = (name, run) => {
    const at = (model.cursor.value ?? run.until) * 1000;
    const after = answerAfter(run, flow.traffic, Math.min(at, (run.seconds - 2) * 1000));
    also(drum(), 0, volume * 0.5);
    if (after === null) tell(`${name}: the run is over before an answer comes.`);
    else if (after === Infinity) tell(`${name}: no answer, its packet was lost.`);
    else {
      also(drum(), after / 1000, volume);
      tell(`${name}: the answer comes after ${after.toFixed(0)} ms.`);
    }
  };
  const at = model.cursor.value ?? runs[0][1].until;
  return html`<section class="hear" aria-label="Hear it">
    <div class="bar">
      ${flow ? runs.map(([name, run]) => html`<button type="button" aria-pressed=${now === `call ${name}`} onClick=${() => (now === `call ${name}` ? stop() : call(name, run))}>${
        now === `call ${name}` ? `Stop ${name}` : `Hear the call of ${name}`}</button>`) : null}
      <button type="button" aria-pressed=${now === "queue"} onClick=${() => (now === "queue" ? stop() : queue())}>${now === "queue" ? "Stop the tone" : "Hear the queue"}</button>
      ${flow ? runs.map(([name, run]) => html`<button type="button" onClick=${() => talk(name, run)}>Beat the drum to ${name}</button>`) : null}
      ${flows.length > 1 ? html`<label>call <select value=${way} onChange=${(event) => { stop(); choose(Number(event.target.value)); }}>
        ${flows.map(({ traffic, direction }, number) => html`<option value=${number}>${traffic}, ${listenerOf(direction)}</option>`)}</select></label>` : null}
      <label class="volume">volume <input type="range" min="0" max="100" step="1" value=${volume * 100}
        onInput=${(event) => { set(event.target.value / 100); louder(event.target.value / 100); }} /></label>
    </div>
    ${flow ? runs.filter(([, run]) => packets(run)).map(([name, run]) => html`<p class="frames"><b>${name}</b> <${Strip} packets=${packets(run)} at=${at} /> ${
      run.metrics.filter(([subject, metric]) => subject === flow.traffic && (metric === "mos" || metric === "rating"))
        .map(([, metric, value]) => (metric === "mos" ? `MOS ${value.toFixed(1)}` : `R ${value.toFixed(0)}`)).join(", ")}</p>`) : null}
    ${flow ? html`<ul class="legend">${FATES.map((fate, number) => html`<li><span class=${`fate-${number} key`}></span>${fate}</li>`)}</ul>` : null}
    <p role="status">${told}</p>
    <details><summary>What this is</summary>
      <p>${flow ? "Each packet of the call is 20 ms of a voice that this page makes. In place of a packet that is lost, or more than 60 ms later than the fastest, you hear the last one again, more softly each time, three times at most, and then silence. Delay alone cannot be heard by listening, so there is a drum: its answer comes back after the delay of this line, up and down. The score is the model's; this is no listening test. " : ""}
      The queue's tone is 220 Hz while nothing waits and rises to 880 Hz; a click is a drop, a soft tick a mark${runs.length > 1 ? ". A is left, B is right" : ""}. Esc ends all sound.</p></details>
  </section>`;
}
