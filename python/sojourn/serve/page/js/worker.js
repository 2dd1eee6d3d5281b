// One engine, one run at a time; a newer run makes it give up the older one. It answers messages: in a worker, or beside the page.

import { Engine, Problems } from "./engine.js";

const STEPS = 50000; // some 4 to 8 ms
const MOST_BYTES = 2 ** 30;
const MOST_MS = 60000;
const PROGRESS_MS = 500; // chosen: a run that takes longer says how far it is

const yieldToMessages = () => new Promise((resume) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => resume();
  channel.port2.postMessage(0);
});

/** The width of bins in s of which a picture of `seconds` has one or two for each pixel: 1, 2 or 5 times a power of ten. */
export function binFor(seconds, pixels) {
  const most = seconds / pixels;
  const power = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].find((step) => step * power <= most) * power;
}

/** All that panels show of a session, from the levels that suit the number of pixels. */
function picture(session, from, until, pixels) {
  const catalogue = session.look();
  const series = catalogue.series.map((about, number) => ({
    ...session.series(number, from, until, pixels),
    kind: about.kind,
    traffic: about.traffic,
    link: about.link,
    names: about.columns,
    widths_ns: about.widths_ns,
  }));
  for (const one of series) one.width = one.widths_ns[one.level] / 1e9;
  return { ...catalogue, series, ticks: session.ticks(), from, until };
}

function transferred(value, found = new Set()) {
  if (value instanceof Float32Array) found.add(value.buffer);
  else if (Array.isArray(value)) value.forEach((part) => transferred(part, found));
  else if (value && typeof value === "object") Object.values(value).forEach((part) => transferred(part, found));
  return found;
}

/** Answers what comes through a port, with an engine of its own. */
export function serve(port) {
  let engine = null;
  let generation = 0;

  async function run(message) {
    const mine = (generation = message.generation);
    const began = performance.now();
    const refuse = (what) => {
      throw new Problems([{ path: "duration", message: what, hint: "a shorter one, or `sojourn run`, which has the whole machine" }]);
    };
    const { bytes: needed, duration_s: duration } = engine.check(message.scenario, message.settings);
    if (needed > MOST_BYTES) refuse(`the run would take ${(needed / MOST_BYTES).toFixed(1)} GiB, and a tab has one`);
    const span = message.span ?? [0, duration];
    const bin = binFor(span[1] - span[0], message.pixels);
    const session = engine.open(message.scenario, { ...message, bin });
    let over;
    let told = began;
    while (!(over = session.advance(Infinity, STEPS))) {
      if (performance.now() - told > PROGRESS_MS) {
        told = performance.now();
        port.postMessage({ number: message.number, progress: session.now() / duration });
      }
      await yieldToMessages();
      if (generation !== mine) {
        session.close();
        return { superseded: true };
      }
      if (performance.now() - began > MOST_MS) {
        const reached = session.now();
        session.close();
        refuse(`after ${MOST_MS / 1000} s the run was at ${reached.toFixed(0)} s and was ended`);
      }
    }
    const now = session.now();
    const shown = picture(session, span[0], span[1], message.pixels);
    const packets = shown.flows.map((_, flow) => session.packets(flow));
    const bytes = session.bytes();
    const metrics = session.close();
    const memory = engine.of.memory.buffer.byteLength;
    return { ...shown, packets, metrics, bytes, memory, seconds: now, took: performance.now() - began };
  }

  const actions = {
    async load({ url, warmUp }) {
      engine = await Engine.load(await fetch(url));
      if (warmUp) {
        try {
          const session = engine.open(warmUp, { seconds: 2 });
          while (!session.advance(Infinity, STEPS)) await yieldToMessages();
          session.close();
        } catch (error) {
          if (!(error instanceof Problems)) throw error; // its run will say what is wrong with it
        }
      }
      return { version: engine.version };
    },
    check: ({ scenario, settings }) => engine.check(scenario, settings),
    set: ({ scenario, settings, explained }) => engine.set(scenario, settings, explained),
    stop: (message) => {
      generation = message.generation;
      return {};
    },
    run,
  };

  port.addEventListener("message", async ({ data }) => {
    try {
      const answer = await actions[data.action](data);
      port.postMessage({ number: data.number, answer }, [...transferred(answer)]);
    } catch (error) {
      const problems = error instanceof Problems ? error.problems : null;
      port.postMessage({ number: data.number, error: String(error?.message ?? error), problems });
    }
  });
}

if (typeof DedicatedWorkerGlobalScope !== "undefined" && globalThis instanceof DedicatedWorkerGlobalScope) serve(globalThis);
