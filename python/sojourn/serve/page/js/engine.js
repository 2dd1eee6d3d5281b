// The engine's module behind a class: texts go in, objects and typed arrays come out. Used by the worker and by Node.

const text = new TextEncoder();
const words = new TextDecoder();

/** Bytes before the values of a frame, see crates/sojourn-live/src/frame.rs. */
const HEAD = 40;

/** Lines of path, tab, value: how settings are handed to the engine. */
export const settingsText = (settings) =>
  Object.entries(settings).map(([path, value]) => `${path}\t${value}`).join("\n");

/** Reads a frame: its heading, and its columns as views of one array. */
export function readFrame(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEAD || words.decode(bytes.subarray(0, 4)) !== "SJL1") {
    throw new Error("a frame begins with SJL1 and has at least 40 bytes");
  }
  const series = view.getUint32(24, true);
  const rows = view.getUint32(28, true);
  const values = new Float32Array(bytes.slice(HEAD).buffer);
  if (rows === 0 ? values.length : values.length % rows) {
    throw new Error("a frame has whole columns");
  }
  const columns = [];
  for (let at = 0; at < values.length; at += rows) columns.push(values.subarray(at, at + rows));
  return {
    kind: view.getUint16(4, true),
    reached: Number(view.getBigUint64(16, true)) / 1e9,
    series: series & 0xffffff,
    level: series >>> 24,
    rows,
    first: Number(view.getBigUint64(32, true)),
    columns,
  };
}

/** Problems of a scenario. */
export class Problems extends Error {
  constructor(problems) {
    super(problems.map((problem) => `${problem.path}: ${problem.message}`).join("\n"));
    this.problems = problems;
  }
}

/** One instance of the engine. */
export class Engine {
  constructor(instance) {
    this.of = instance.exports;
    this.of.version();
    this.version = this.result();
  }

  /** Compiles the module from a response or from bytes. */
  static async load(source) {
    const isResponse = typeof Response !== "undefined" && source instanceof Response;
    // Learning platforms and old servers send a module as any bytes, which cannot be compiled while they come.
    const isModule = isResponse && /^application\/wasm\b/.test(source.headers.get("content-type") ?? "");
    const { instance } = isModule
      ? await WebAssembly.instantiateStreaming(source, {})
      : await WebAssembly.instantiate(isResponse ? await source.arrayBuffer() : source, {});
    return new Engine(instance);
  }

  bytes() {
    return new Uint8Array(this.of.memory.buffer, this.of.result(), this.of.length());
  }

  result() {
    return words.decode(this.bytes());
  }

  /** Calls `action` with pointer and length of each text. */
  with(texts, action) {
    const ranges = texts.map((part) => {
      const bytes = text.encode(part);
      return [this.of.alloc(bytes.length), bytes];
    });
    for (const [at, bytes] of ranges) new Uint8Array(this.of.memory.buffer, at, bytes.length).set(bytes);
    try {
      return action(...ranges.flatMap(([at, bytes]) => [at, bytes.length]));
    } finally {
      for (const [at, bytes] of ranges) this.of.free(at, bytes.length);
    }
  }

  answer(done) {
    const result = this.result();
    if (done) return result;
    throw new Problems(JSON.parse(result).problems);
  }

  /** Name, duration, seed and memory of a scenario; throws Problems. */
  check(scenario, settings = {}) {
    return JSON.parse(
      this.answer(this.with([scenario, settingsText(settings)], (...ranges) => this.of.check(...ranges))),
    );
  }

  /** The text of a scenario with settings in it; `explained` with every value in force. */
  set(scenario, settings, explained = false) {
    const parts = [scenario, settingsText(settings)];
    return this.answer(this.with(parts, (...ranges) => this.of.set(...ranges, explained ? 1 : 0)));
  }

  /** Opens a session: of the first `seconds` if they are said, in bins of at least `bin` s. */
  open(scenario, { settings = {}, seed = 1, seconds = 0, bin = 0, records = false } = {}) {
    const number = this.with([scenario, settingsText(settings)], (...ranges) =>
      this.of.open(...ranges, seed, seconds, bin * 1e9, records ? 1 : 0),
    );
    this.answer(number);
    return new Session(this, number);
  }
}

/** A run. */
export class Session {
  constructor(engine, number) {
    this.engine = engine;
    this.number = number;
  }

  /** Goes on until a time in s or for a number of steps; returns true if the run is over, `undefined` if steps ended it. */
  advance(until = Infinity, steps = 50000) {
    const reached = this.engine.of.advance(this.number, Math.min(until * 1e9, 1.8e19), steps);
    return reached === 3 ? true : reached === 1 ? false : undefined;
  }

  now() {
    return this.engine.of.now_ns(this.number) / 1e9;
  }

  bytes() {
    return this.engine.of.bytes(this.number);
  }

  /** Brings series up to now; what the numbers in frames mean. */
  look() {
    this.engine.of.look(this.number);
    return JSON.parse(this.engine.result());
  }

  frame(kind, number, first, from, until, pixels) {
    const { of } = this.engine;
    return of.frame(this.number, kind, number, first, from * 1e9, until * 1e9, pixels)
      ? readFrame(this.engine.bytes())
      : null;
  }

  series(number, from, until, pixels) {
    return this.frame(1, number, 0, from, until, pixels);
  }

  ticks(first = 0) {
    return this.frame(2, 0, first, 0, 0, 0);
  }

  packets(flow, first = 0) {
    return this.frame(3, flow, first, 0, 0, 0);
  }

  /** Ends the session. If the run was over: its metrics, or a line for each column with its hash. */
  close(columns = false) {
    if (!this.engine.of.close(this.number, columns ? 1 : 0)) return null;
    const result = this.engine.result();
    return columns ? result.trimEnd().split("\n") : JSON.parse(result);
  }
}
