// One place that makes sounds: nothing is heard before a press, and Esc ends all of it.

import { RATE } from "./sound.js";

let context = null;
let playing = null;

/** Ends what is heard. */
export function stop() {
  if (!playing) return;
  const { sources, ended } = playing;
  playing = null;
  for (const source of sources) source.stop();
  ended();
}

addEventListener("keydown", (event) => { if (event.key === "Escape") stop(); });

function source(samples, sides) {
  const buffer = context.createBuffer(sides, samples[0].length, RATE);
  samples.forEach((one, side) => buffer.copyToChannel(one, side));
  const node = context.createBufferSource();
  node.buffer = buffer;
  return node;
}

/**
 * Plays samples, of one side or of left and right, from a time in s on. `tick` is called in each frame with the time that is heard,
 * `ended` once.
 */
export function play(samples, { from = 0, volume = 1, tick = () => {}, ended = () => {} } = {}) {
  stop();
  context ??= new AudioContext({ sampleRate: RATE });
  context.resume();
  const node = source(samples, samples.length);
  const loudness = context.createGain();
  loudness.gain.value = volume;
  node.connect(loudness).connect(context.destination);
  const began = context.currentTime;
  const mine = { sources: [node], loudness, ended };
  playing = mine;
  node.onended = () => { if (playing === mine) stop(); };
  node.start(0, from);
  const step = () => {
    if (playing !== mine) return;
    tick(from + context.currentTime - began);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/** Plays a short sound beside what is heard, after some seconds. */
export function also(samples, after = 0, volume = 1) {
  context ??= new AudioContext({ sampleRate: RATE });
  context.resume();
  const node = source([samples], 1);
  const loudness = context.createGain();
  loudness.gain.value = volume;
  node.connect(loudness).connect(context.destination);
  node.start(context.currentTime + after);
}

/** Sets how loud it is, from 0 to 1. */
export function louder(volume) {
  if (playing) playing.loudness.gain.value = volume;
}
