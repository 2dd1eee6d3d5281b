// The one place that makes sounds: nothing is heard before a press, and Esc ends all of it.

import { RATE } from "./sound.js";

let context = null;
let playing = null;

/** Ends what is heard. */
export function stop() {
  if (!playing) return;
  const { node, ended } = playing;
  playing = null;
  node.stop();
  ended();
}

addEventListener("keydown", (event) => { if (event.key === "Escape") stop(); });

/** A source of samples, one array for each side, behind a gain. */
function source(sides, volume) {
  context ??= new AudioContext({ sampleRate: RATE });
  context.resume();
  const buffer = context.createBuffer(sides.length, sides[0].length, RATE);
  sides.forEach((samples, side) => buffer.copyToChannel(samples, side));
  const [node, loudness] = [context.createBufferSource(), context.createGain()];
  node.buffer = buffer;
  loudness.gain.value = volume;
  node.connect(loudness).connect(context.destination);
  return { node, loudness };
}

/**
 * Plays samples, of one side or of left and right, from a time in s on. `tick` is called in each frame with the time that is heard,
 * `ended` once.
 */
export function play(sides, { from = 0, volume = 1, tick = () => {}, ended = () => {} } = {}) {
  stop();
  const { node, loudness } = source(sides, volume);
  const began = context.currentTime;
  const mine = { node, loudness, ended };
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
  const { node } = source([samples], volume);
  node.start(context.currentTime + after);
}

/** Sets how loud it is, from 0 to 1. */
export function louder(volume) {
  if (playing) playing.loudness.gain.value = volume;
}
