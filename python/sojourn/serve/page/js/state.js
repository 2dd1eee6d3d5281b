// What a page shows, and how a change of it becomes a run.

import { Problems } from "./engine.js";
import { WasmEngine } from "./port.js";
import { controls } from "./scenario.js";
import { batch, signal } from "./view.js";

/** While dragging, a run that takes longer than this is cut to its first seconds. */
const SLOW_MS = 50;
const COARSE_S = 10;

/** One of the two runs that are shown: its settings, its engine, what it has found. */
class Side {
  constructor(name) {
    this.name = name;
    this.settings = signal({});
    this.run = signal(null);
    this.ghost = signal(null);
    this.controls = signal([]);
    this.engine = new WasmEngine();
  }
}

/** A page with one scenario. */
export class Model {
  constructor({ sliders, scenario, seed = 1, a = {}, b = null }) {
    this.sliders = sliders;
    this.scenario = signal(scenario);
    this.seed = signal(seed);
    this.span = signal(null);
    this.cursor = signal(null);
    this.problems = signal([]);
    this.status = signal("The engine is being loaded.");
    this.version = signal("");
    this.reactions = [];
    this.undone = [];
    this.sides = [new Side("A")];
    this.sides[0].settings.value = a;
    this.both = signal(false);
    if (b) this.beside(b);
  }

  get a() {
    return this.sides[0];
  }

  get b() {
    return this.both.value ? this.sides[1] : null;
  }

  get pixels() {
    return Math.max(200, Math.min(1600, Math.round(innerWidth / 2)));
  }

  async load() {
    const loaded = await Promise.all(this.sides.map((side) => side.engine.load(this.scenario.value)));
    this.version.value = loaded[0].version;
    await this.again();
  }

  /** B beside A, with settings of its own. */
  beside(settings) {
    if (!this.sides[1]) this.sides[1] = new Side("B");
    this.sides[1].settings.value = settings;
    this.both.value = true;
  }

  async showB() {
    const isNew = !this.sides[1];
    this.beside({ ...this.a.settings.value });
    if (isNew) await this.b.engine.load();
    await this.simulate(this.b);
  }

  hideB() {
    this.both.value = false;
  }

  swap() {
    const [a, b] = this.sides.map((side) => side.settings.value);
    this.a.settings.value = b;
    this.b.settings.value = a;
    return this.again();
  }

  again() {
    return Promise.all([this.a, this.b].filter(Boolean).map((side) => this.simulate(side)));
  }

  /** Sets a key of a side; while `dragged`, the picture before stays as a ghost. */
  async change(side, path, value, dragged = false) {
    if (!dragged) this.undone.push([side, side.settings.value]);
    // A new kind of manager or sender takes its keys with it.
    const kept = Object.entries(side.settings.value).filter(([key]) => key !== path && !key.startsWith(`${path}.`));
    side.settings.value = { ...Object.fromEntries(kept), [path]: value };
    await this.simulate(side, dragged);
  }

  /** A key is as the file has it again. */
  forget(side, path) {
    this.undone.push([side, side.settings.value]);
    side.settings.value = Object.fromEntries(Object.entries(side.settings.value).filter(([key]) => key !== path));
    return this.simulate(side);
  }

  /** Whether the picture of A is that of just these settings. */
  same(settings) {
    const now = this.a.run.value?.settings ?? {};
    return Object.entries(settings).every(([path, value]) => now[path] === value)
      && Object.keys(now).length === Object.keys(settings).length;
  }

  undo() {
    const last = this.undone.pop();
    if (!last) return null;
    const [side, settings] = last;
    side.settings.value = settings;
    return this.simulate(side);
  }

  async open(scenario) {
    batch(() => {
      this.scenario.value = scenario;
      this.span.value = null;
      this.undone = [];
      for (const side of this.sides) {
        side.settings.value = {};
        side.ghost.value = null;
        side.run.value = null;
      }
    });
    await this.again();
  }

  zoom(from, until) {
    this.span.value = from === undefined ? null : [from, until];
    return this.again();
  }

  async simulate(side, dragged = false) {
    const began = performance.now();
    const before = side.run.value;
    const message = {
      scenario: this.scenario.value, settings: side.settings.value, seed: this.seed.value,
      span: this.span.value, pixels: this.pixels,
      seconds: dragged && before?.took > SLOW_MS ? COARSE_S : 0,
    };
    try {
      const [run, canonical] = await Promise.all([
        side.engine.run(message),
        dragged ? null : side.engine.set(message.scenario, message.settings, true),
      ]);
      if (!run) return;
      batch(() => {
        if (!side.dragging) side.ghost.value = before && !this.span.value ? before : side.ghost.value;
        side.dragging = dragged;
        side.run.value = { ...run, settings: message.settings };
        if (canonical) side.controls.value = controls(this.sliders, canonical);
        this.problems.value = [];
        const speed = run.seconds / (run.took / 1000);
        this.status.value = `${run.seconds.toFixed(0)} s simulated in ${run.took.toFixed(0)} ms, ${speed.toFixed(0)} times real time.`;
      });
      requestAnimationFrame(() => this.reactions.push(performance.now() - began));
    } catch (error) {
      this.problems.value = error instanceof Problems
        ? error.problems
        : [{ path: "", message: error.message, hint: "" }];
      this.status.value = "This cannot be run; the picture is of what could.";
    }
  }
}
