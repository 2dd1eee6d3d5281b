// What a page shows, and how a change of it becomes a run.

import { Problems } from "./engine.js";
import { WasmEngine } from "./port.js";
import { controls, values } from "./scenario.js";
import { batch, signal } from "./view.js";

/** While dragging, a run is cut to the seconds that the engine simulates in this many ms, but to no fewer than these. */
const SLOW_MS = 50;
const COARSE_S = 10;

/** Steps that can be undone. */
const STEPS_BACK = 100;

/** One of the two runs that are shown: its settings, its engine, its results. */
class Side {
  constructor(name) {
    this.name = name;
    this.settings = signal({});
    this.run = signal(null);
    this.ghost = signal(null);
    this.controls = signal([]);
    this.known = signal(new Map()); // every value in force, by its path
    this.canonical = "";
    this.engine = new WasmEngine();
  }
}

/** A page with one scenario. */
export class Model {
  constructor({ sliders, scenario, seed = null, a = {}, b = null }) {
    this.sliders = sliders;
    this.scenario = signal(scenario);
    this.seed = signal(seed ?? 1);
    this.isSeedSaid = seed !== null; // otherwise it is that of the scenario
    this.progress = signal(null); // how far the run of a side is, where it takes long
    this.span = signal(null);
    this.cursor = signal(null);
    this.problems = signal([]);
    this.status = signal("The engine is being loaded.");
    this.version = signal("");
    this.live = signal(null); // makes a setting act from the cursor on, see live.js
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

  /** Shows a sentence instead of a run. */
  refuse(message) {
    this.refused = true;
    this.status.value = "This link cannot be read.";
    this.problems.value = [{ path: "", message, hint: "nothing is drawn: choose a scenario, or open Explore without a link" }];
  }

  /** The seed that a scenario says; 1 where it cannot be read, which its run tells. */
  async seedOf(scenario) {
    return this.a.engine.check(scenario, {}).then(({ seed }) => Number(seed) || 1, () => 1);
  }

  async load() {
    const loaded = await Promise.all(this.sides.map((side) => side.engine.load(this.refused ? "" : this.scenario.value)));
    this.version.value = loaded[0].version;
    if (this.refused) return;
    if (!this.isSeedSaid) this.seed.value = await this.seedOf(this.scenario.value);
    await this.again();
    if (this.madeWith && this.madeWith !== this.version.value) this.status.value += ` The link was made with version ${this.madeWith}: numbers may differ.`;
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

  /** Remembers a state that can be undone: settings of a side, or the text of the scenario. */
  remember(side) {
    this.undone = [...this.undone.slice(1 - STEPS_BACK), [side, side.settings.value, this.scenario.value]];
  }

  /** Sets a key of a side; while `dragged`, the picture before stays as a ghost. */
  async change(side, path, value, dragged = false, keep = () => false) {
    if (this.live.value && path !== "change") {
      const setting = await this.live.value.setting(this, side, path, value, dragged);
      return setting && this.change(side, "change", setting, dragged);
    }
    if (!dragged) this.remember(side);
    // A new kind of manager or sender takes its keys with it, except those that the new one has, too.
    const said = Object.entries(side.settings.value).filter(([key]) => key !== path);
    const below = ([key]) => key.startsWith(`${path}.`);
    const kept = said.filter((one) => below(one) && keep(one[0]));
    side.settings.value = { ...Object.fromEntries(said.filter((one) => !below(one))), [path]: value, ...Object.fromEntries(kept) };
    if (!dragged) await this.complete(side, path);
    return this.simulate(side, dragged);
  }

  /** Gives a new kind its required keys that are not set: as the file has them, or as they are in force. */
  async complete(side, path) {
    const [scenario, settings] = [this.scenario.value, side.settings.value];
    const problems = await side.engine.check(scenario, settings).then(() => [], (error) => error.problems ?? []);
    const missing = problems.filter((one) => one.message === "is missing" && one.path.startsWith(`${path}.`));
    if (!missing.length) return;
    const first = values(await side.engine.set(scenario, {}, true).catch(() => ""));
    const found = missing.map((one) => [one.path, first.get(one.path) ?? side.known.value.get(one.path)]).filter(([, value]) => value !== undefined);
    if (side.settings.value === settings) side.settings.value = { ...settings, ...Object.fromEntries(found) };
  }

  /** The settings of a side, and the seed where the scenario says another one. */
  async said(side) {
    const [scenario, settings] = [this.scenario.value, side.settings.value];
    if (this.seed.value === await this.seedOf(scenario)) return settings;
    const known = values(await side.engine.set(scenario, {}, true));
    return { ...settings, [known.has("seeds.first") ? "seeds.first" : "seed"]: String(this.seed.value) };
  }

  /** The scenario with the settings and the seed of a side in it: by an edit that keeps comments, or by the engine if the edit means something else. */
  async text(side) {
    const [scenario, settings] = [this.scenario.value, await this.said(side)];
    if (!Object.keys(settings).length) return scenario;
    const [spelt, meant] = await Promise.all([false, true].map((explained) => side.engine.set(scenario, settings, explained)));
    const { edit } = await import("./edit.js");
    let text = scenario;
    for (const [path, value] of Object.entries(settings)) {
      text = text === null ? null : edit(text, path, value);
    }
    const is = text === null ? null : await side.engine.set(text, {}, true).catch(() => null);
    return is === meant ? text : spelt;
  }

  /** Takes a text, which has the settings of a side in it, as the scenario; throws Problems. */
  async write(side, text) {
    const { seed } = await side.engine.check(text, {});
    this.remember(side);
    batch(() => {
      this.seed.value = Number(seed) || 1;
      this.scenario.value = text;
      side.settings.value = {};
    });
    await this.again();
  }

  /** Takes a setting back: the key is as the file has it. */
  forget(side, path) {
    this.remember(side);
    side.settings.value = Object.fromEntries(Object.entries(side.settings.value).filter(([key]) => key !== path));
    return this.simulate(side);
  }

  /** Returns true if the picture of A is that of just these settings. */
  same(settings) {
    const now = this.a.run.value?.settings ?? {};
    return Object.entries(settings).every(([path, value]) => now[path] === value)
      && Object.keys(now).length === Object.keys(settings).length;
  }

  undo() {
    const last = this.undone.pop();
    if (!last) return null;
    const [side, settings, scenario] = last;
    const isText = scenario !== this.scenario.value;
    batch(() => {
      this.scenario.value = scenario;
      side.settings.value = settings;
    });
    return isText ? this.again() : this.simulate(side);
  }

  async open(scenario) {
    const seed = await this.seedOf(scenario);
    batch(() => {
      this.refused = false;
      this.problems.value = [];
      this.seed.value = seed;
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

  /** Simulates a side anew. While it is dragged, the hand is faster than the engine: its last position is simulated next. */
  simulate(side, dragged = false) {
    side.moved = dragged;
    if (!dragged) return this.once(side, false);
    const follow = async () => {
      while (side.moved) {
        side.moved = false;
        await this.once(side, true);
      }
      side.following = null;
    };
    return (side.following ??= follow());
  }

  /** Gives up the run of a side that is going on; what was shown stays. */
  stop() {
    for (const side of this.sides) side.engine.stop();
    this.progress.value = null;
    this.status.value = this.a.run.value ? "Stopped; the picture is of the run before." : "Stopped.";
  }

  async once(side, dragged) {
    const before = side.run.value;
    const onProgress = (share) => { this.progress.value = share; };
    const affordable = before ? Math.floor((SLOW_MS / before.took) * before.seconds) : 0;
    const message = {
      scenario: this.scenario.value, settings: side.settings.value, seed: this.seed.value,
      span: this.span.value, pixels: this.pixels,
      seconds: dragged ? Math.max(COARSE_S, affordable) : 0,
    };
    try {
      const [run, canonical] = await Promise.all([
        side.engine.run(message, onProgress),
        dragged ? null : side.engine.set(message.scenario, message.settings, true),
      ]);
      if (!run) return;
      batch(() => {
        if (!side.dragging) side.ghost.value = before && !this.span.value ? before : side.ghost.value;
        side.dragging = dragged;
        side.run.value = { ...run, settings: message.settings };
        if (canonical) {
          side.controls.value = controls(this.sliders, canonical, message.scenario);
          side.known.value = values(canonical);
          side.canonical = canonical;
        }
        this.problems.value = [];
        const speed = run.seconds / (run.took / 1000);
        this.status.value = `${run.seconds.toFixed(0)} s simulated in ${run.took.toFixed(0)} ms, ${speed.toFixed(0)} times real time.`;
      });
    } catch (error) {
      this.problems.value = error instanceof Problems
        ? error.problems
        : [{ path: "", message: error.message, hint: "" }];
      this.status.value = side.run.value ? "These settings cannot run; the pictures show the last that could." : "These settings cannot run.";
    } finally {
      this.progress.value = null;
    }
  }
}
