// What a call sounds like, as samples: speech made here, what a listener hears of it, and the queue as a tone.
// Nothing is recorded and no file is loaded. No sample is above LOUDEST.

/** Samples in a second; telephones of the wide band have as many. */
export const RATE = 16000;

const LOUDEST = 0.25; // −12 dB of full scale; chosen: it does no harm with headphones
// Concealment of lost packets; chosen: simpler than G.711 appendix I, and silent after 60 ms as it is there.
const MOST_REPEATS = 3; // of 20 ms
const REPEAT_GAIN = 0.5; // −6 dB for each repetition

/** Numbers from −1 to 1 that are the same each time: a linear congruential generator (Numerical Recipes, 3rd edition, 7.1.4). */
function noise(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** A resonance: what a formant does to a sound. */
function resonance(frequency, width) {
  const radius = Math.exp((-Math.PI * width) / RATE);
  const turn = 2 * radius * Math.cos((2 * Math.PI * frequency) / RATE);
  let [last, before] = [0, 0];
  return (value) => {
    const now = (1 - radius) * value + turn * last - radius * radius * before;
    [before, last] = [last, now];
    return now;
  };
}

// Formants of /ɑ/ and /i/, means of men: Peterson and Barney 1952, table II. Lengths, pitch and the hiss are chosen.
const SOUNDS = [
  { s: 0.09, hiss: true }, { s: 0.19, formants: [730, 1090, 2440] }, { s: 0.16, formants: [270, 2290, 3010] },
  { s: 0.12 }, { s: 0.09, hiss: true }, { s: 0.17, formants: [270, 2290, 3010] }, { s: 0.24, formants: [730, 1090, 2440] }, { s: 0.34 },
];

/** A phrase of 1.4 s, to be said again and again. */
export function phrase(seed = 1) {
  const random = noise(seed);
  const parts = SOUNDS.map(({ s, hiss, formants }) => {
    const count = Math.round(s * RATE);
    const filters = (formants ?? [5200]).map((frequency, place) => resonance(frequency, hiss ? 900 : 70 + 30 * place));
    let turn = 0;
    return Float32Array.from({ length: count }, (_, at) => {
      if (!hiss && !formants) return 0;
      turn += (115 + 25 * Math.cos((at / count) * Math.PI)) / RATE; // the pitch falls
      const pulse = turn >= 1 ? 1 : 0;
      if (pulse) turn -= 1;
      const source = hiss ? 0.08 * random() : pulse + 0.003 * random();
      const rise = Math.min(1, at / 400, (count - at) / 400);
      return rise * filters.reduce((sum, filter, place) => sum + filter(source) / (1 + place), 0);
    });
  });
  const said = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  parts.forEach((part, number) => {
    const most = part.reduce((peak, value) => Math.max(peak, Math.abs(value)), 1e-9);
    const gain = ((SOUNDS[number].hiss ? 0.35 : 1) * LOUDEST) / most;
    said.set(part.map((value) => value * gain), at);
    at += part.length;
  });
  return said;
}

/** Returns the fate of each packet of a call: 0 in time, 1 late, 2 lost. Packets under way at the end are left out. */
export function fates({ columns: [, delays, late] }) {
  return Array.from(delays, (delay, place) => (delay === Infinity ? 2 : late[place] ? 1 : 0));
}

/**
 * What is heard of a call: a packet in time is its 20 ms of speech; for one that is lost or late the last one that was in time is
 * repeated, each time with half the amplitude, three times at most.
 */
export function heard(packets, speech) {
  const sent = packets.columns[0];
  if (packets.rows < 2) return new Float32Array(0);
  const frame = Math.round(((sent[packets.rows - 1] - sent[0]) / (packets.rows - 1) / 1000) * RATE);
  const first = Math.round((sent[0] / 1000) * RATE);
  const out = new Float32Array(first + packets.rows * frame);
  let [good, missing] = [-1, 0];
  fates(packets).forEach((fate, place) => {
    const at = first + place * frame;
    if (fate === 0) [good, missing] = [at, 0];
    else missing += 1;
    if (good < 0 || missing > MOST_REPEATS) return;
    const gain = REPEAT_GAIN ** missing;
    for (let sample = 0; sample < frame; sample++) out[at + sample] = gain * speech[(good + sample) % speech.length];
  });
  return out;
}

/** A drum, 0.15 s. */
export function drum() {
  const random = noise(7);
  const count = Math.round(0.15 * RATE);
  return Float32Array.from({ length: count }, (_, at) => {
    const fall = Math.exp((-6 * at) / count);
    return LOUDEST * fall * (0.8 * Math.sin((2 * Math.PI * (90 + 60 * fall) * at) / RATE) + 0.2 * random());
  });
}

/**
 * A run as a tone: 220 Hz while nothing waits, 880 Hz with the most that waits, by its logarithm; a drop is a click, a mark a soft
 * tick.
 */
export function tones({ at, bytes, most, ticks, seconds }) {
  const out = new Float32Array(Math.round(seconds * RATE));
  const block = 160; // 10 ms
  let [turn, row] = [0, 0];
  for (let start = 0; start < out.length; start += block) {
    while (row + 1 < at.length && at[row + 1] * RATE <= start) row++;
    const waiting = bytes[row] || 0;
    const frequency = 220 * 4 ** (Math.log1p(waiting) / Math.log1p(Math.max(1, most)));
    for (let sample = start; sample < Math.min(out.length, start + block); sample++) {
      turn += frequency / RATE;
      out[sample] = 0.3 * LOUDEST * Math.sin(2 * Math.PI * turn);
    }
  }
  for (const { s, marked } of ticks) {
    const first = Math.round(s * RATE);
    for (let sample = 0; sample < 80 && first + sample < out.length; sample++) {
      const value = out[first + sample] + (marked ? 0.15 : 0.6) * LOUDEST * Math.exp(-sample / 20) * (sample % 2 ? -1 : 1);
      out[first + sample] = Math.max(-LOUDEST, Math.min(LOUDEST, value));
    }
  }
  return out;
}
