// Feel the lag: a spot follows the hand as a game over this line would show it.

import { echoes, Hand, lastBefore } from "./lag.js";
import { html, useEffect, useRef, useState } from "./view.js";

const TARGETS = 10;
const RADIUS = 0.07; // of the field's width; chosen: a ring that a hand behind a short queue reaches at once
const DWELL_MS = 250; // chosen: to pass over a target is no hit
const FROM = 1 / 3; // of the run; chosen: by then uploads have filled their buffers
// Places of targets, chosen: far from each other, the same for A and B.
const PLACES = [[0.2, 0.3], [0.8, 0.7], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5]];

/** The game of a run: its packets in both directions. */
export function game(run) {
  const way = (direction, traffic) => run.flows.findIndex((flow) => flow.direction === direction && (!traffic || flow.traffic === traffic));
  for (const flow of run.flows) {
    const isCall = run.metrics?.some(([subject, metric]) => subject === flow.traffic && metric === "mos");
    if (isCall || flow.direction !== "upstream") continue;
    const down = way("downstream", flow.traffic);
    if (down >= 0) return { name: flow.traffic, up: run.packets[run.flows.indexOf(flow)], down: run.packets[down] };
  }
  return null;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** One field: its own time, hand and targets. */
function draw(canvas, state, look) {
  const context = canvas.getContext("2d");
  const [width, height] = [canvas.clientWidth * devicePixelRatio, canvas.clientHeight * devicePixelRatio].map(Math.round);
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  context.clearRect(0, 0, width, height);
  const circle = ({ x, y }, radius, fill, stroke, dash = []) => {
    context.beginPath();
    context.setLineDash(dash);
    context.arc(x * width, y * height, radius, 0, 2 * Math.PI);
    context.lineWidth = 2 * devicePixelRatio;
    [context.fillStyle, context.strokeStyle] = [fill, stroke];
    if (fill) context.fill();
    if (stroke) context.stroke();
  };
  context.font = `${14 * devicePixelRatio}px system-ui, sans-serif`;
  if (state.target) circle(state.target, RADIUS * width, null, look.target, [6, 4]);
  circle(state.hand, 9 * devicePixelRatio, null, look.ink);
  if (state.spot) circle(state.spot, 7 * devicePixelRatio, look.spot, null);
  const write = (text, { x, y }, down) => {
    context.fillStyle = look.ink;
    context.fillText(text, Math.min(x * width + 12 * devicePixelRatio, width - 30 * devicePixelRatio), y * height + down * devicePixelRatio);
  };
  write("you", state.hand, -8);
  if (state.spot) write("it", state.spot, 18);
}

function Field({ name, run, playing, turn, onHit, onLag, onOwn, busy }) {
  const place = useRef(null);
  const hand = useRef(new Hand());
  const at = useRef({ x: 0.5, y: 0.5 });
  const move = (x, y) => {
    at.current = { x: Math.min(1, Math.max(0, x)), y: Math.min(1, Math.max(0, y)) };
    hand.current.move(performance.now(), at.current.x, at.current.y);
  };
  useEffect(() => {
    const canvas = place.current;
    const colour = (key) => getComputedStyle(document.documentElement).getPropertyValue(`--${key}`).trim();
    const look = { ink: colour("ink"), spot: colour(name === "A" ? "line-0" : "line-b"), target: colour("line-1") };
    const target = turn !== null ? { x: PLACES[turn % PLACES.length][0], y: PLACES[turn % PLACES.length][1] } : null;
    if (!playing) {
      const still = () => draw(canvas, { hand: at.current, spot: null, target: null }, look);
      const watch = new ResizeObserver(still);
      watch.observe(canvas);
      return () => watch.disconnect();
    }
    const { up, down } = game(run);
    const rows = echoes(up, down);
    const from = run.seconds * FROM * 1000;
    const length = Math.max(1, run.seconds * 1000 - from - 1000);
    const began = performance.now();
    let [frame, shownAt, inside] = [0, 0, null];
    let dead = false;
    const step = (now) => {
      if (dead) return;
      const wall = performance.now();
      // The run is played again and again, from where its queue is full.
      const lap = Math.max(0, wall - began) % length;
      const simulated = from + lap;
      const row = lastBefore(rows, "at", simulated);
      const lag = row ? simulated - row.sent : simulated;
      const spot = hand.current.was(wall - lag);
      draw(canvas, { hand: at.current, spot, target }, look);
      if (wall - shownAt > 250) {
        shownAt = wall;
        onLag(name, lag);
      }
      if (target) {
        const away = Math.hypot((spot.x - target.x) * canvas.width, (spot.y - target.y) * canvas.height);
        inside = away < RADIUS * canvas.width ? inside ?? wall : null;
        if (inside !== null && wall - inside > DWELL_MS) {
          dead = true;
          onHit(name, wall - began);
          return;
        }
      }
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => {
      dead = true;
      cancelAnimationFrame(frame);
    };
  }, [run, playing, turn]);
  const pointer = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    move((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
    const { timeStamp } = event;
    requestAnimationFrame((now) => onOwn(now - timeStamp));
  };
  const keys = (event) => {
    const step = event.shiftKey ? 0.1 : 0.02;
    const way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (!way) return;
    event.preventDefault();
    move(at.current.x + way[0], at.current.y + way[1]);
  };
  return html`<figure class=${`field${busy ? " turn" : ""}`}><figcaption><b>${name}</b></figcaption>
    <canvas ref=${place} tabindex="0" role="application" aria-label=${`Field ${name}: arrow keys move your hand, the spot follows it as the game shows it`}
      onPointerMove=${pointer} onKeyDown=${keys}></canvas></figure>`;
}

/** The panel: two fields if there is a B. */
export function Feel({ model }) {
  const [playing, play] = useState(false);
  const [hits, hit] = useState([]);
  const [lags, setLags] = useState({});
  const own = useRef([]);
  const runs = [["A", model.a.run.value], ...(model.b ? [["B", model.b.run.value]] : [])].filter(([, run]) => run && game(run));
  useEffect(() => {
    const end = (event) => { if (event.key === "Escape") play(false); };
    addEventListener("keydown", end);
    return () => removeEventListener("keydown", end);
  }, []);
  if (!runs.length) return null;
  const all = TARGETS * runs.length;
  const over = hits.length >= all;
  const turn = playing && !over ? runs[hits.length % runs.length][0] : null;
  const score = (name) => {
    const mine = hits.filter((one) => one.name === name);
    return mine.length ? `${(mine.reduce((sum, one) => sum + one.ms, 0) / mine.length / 1000).toFixed(1)} s each` : "";
  };
  return html`<section class="feel" aria-label="Feel the lag">
    <div class="bar">
      <button type="button" aria-pressed=${playing} onClick=${() => { if (!playing) hit([]); play(!playing); }}>${playing ? "Stop" : "Play"}</button>
      <span role="status">${over ? `Done. ${runs.map(([name]) => `${name}: ${score(name)}`).join(", ")}.`
        : playing ? `Bring the spot onto the ring in ${turn}, and keep it there. ${hits.length} of ${all}.` : "Move the spot onto ten rings on each side."}</span>
    </div>
    <div class="fields">${runs.map(([name, run]) => html`<${Field} key=${name} name=${name} run=${run} playing=${playing} busy=${turn === name}
      turn=${turn === name ? Math.floor(hits.length / runs.length) : null}
      onHit=${(side, ms) => hit((before) => [...before, { name: side, ms }])}
      onLag=${(side, ms) => setLags((before) => ({ ...before, [side]: ms }))}
      onOwn=${(ms) => { own.current = [...own.current.slice(-49), ms]; }} />`)}</div>
    <table class="readings"><thead><tr><th scope="col">measure</th>${runs.map(([name]) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>
      <tr><th scope="row">age of what you see</th>${runs.map(([name]) => html`<td>${playing && lags[name] !== undefined ? `${lags[name].toFixed(0)} ms` : ""}</td>`)}</tr>
      <tr><th scope="row">time per ring</th>${runs.map(([name]) => html`<td>${score(name)}</td>`)}</tr></tbody></table>
    <details><summary>What this is</summary><p>Each packet up of the ${game(runs[0][1]).name} carries your hand, the next one down brings it back, with the delays
      that both had on this line. Between them the spot stays, and a lost packet moves nothing. The distance of the server is left out. ${
      own.current.length ? `This browser itself adds ${median(own.current).toFixed(0)} ms from your hand to its picture, which is not taken off. ` : ""}This is no test of
      skill.</p></details>
  </section>`;
}
