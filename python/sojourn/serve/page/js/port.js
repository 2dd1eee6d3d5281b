// The engine as a page sees it: promises of answers from a worker of its own.

import { Problems } from "./engine.js";

const policy = globalThis.trustedTypes?.createPolicy("sojourn", {
  // The worker of this page, and nothing else.
  createScriptURL: (url) => {
    if (new URL(url).href === new URL("worker.js", import.meta.url).href) return url;
    throw new TypeError("no script but the worker of this page");
  },
});

/** An engine in a worker. */
export class WasmEngine {
  constructor() {
    const url = new URL("worker.js", import.meta.url).href;
    this.worker = new Worker(policy ? policy.createScriptURL(url) : url, { type: "module" });
    this.waiting = new Map();
    this.asked = 0;
    this.worker.addEventListener("message", ({ data }) => {
      const { resolve, reject } = this.waiting.get(data.number);
      this.waiting.delete(data.number);
      if (data.error === undefined) resolve(data.answer);
      else reject(data.problems ? new Problems(data.problems) : new Error(data.error));
    });
    this.worker.addEventListener("error", (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message || "the engine did not start"));
      this.waiting.clear();
    });
  }

  ask(action, message = {}) {
    const number = ++this.asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      this.worker.postMessage({ ...message, action, number });
    });
  }

  load(warmUp) {
    return this.ask("load", { url: new URL("../engine.wasm", import.meta.url).href, warmUp });
  }

  check(scenario, settings) {
    return this.ask("check", { scenario, settings });
  }

  set(scenario, settings, explained) {
    return this.ask("set", { scenario, settings, explained });
  }

  /** A whole run; `null` if a newer one has taken its place. */
  async run(message) {
    const answer = await this.ask("run", { ...message, generation: this.asked + 1 });
    return answer.superseded ? null : answer;
  }
}
