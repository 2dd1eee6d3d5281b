// The engine as a page sees it: promises of answers from a worker of its own.

import { Problems } from "./engine.js";
import { address, inside } from "./files.js";

const policy = globalThis.trustedTypes?.createPolicy("sojourn", {
  // The worker of this page, and nothing else.
  createScriptURL: (url) => {
    if (url === address("js/worker.js")) return url;
    throw new TypeError("no script but the worker of this page");
  },
});

/** A worker. */
function apart() {
  const url = address("js/worker.js");
  return new Worker(policy ? policy.createScriptURL(url) : url, { type: "module" });
}

/** Stands for a worker in this thread: a frame without access to other files cannot start one. */
function beside() {
  const { port1, port2 } = new MessageChannel();
  import("./worker.js").then(({ serve }) => {
    serve(port2);
    port2.start();
  });
  port1.start();
  return port1;
}

/** An engine, in a worker where there can be one. */
export class WasmEngine {
  constructor() {
    this.worker = inside ? beside() : apart();
    this.waiting = new Map();
    this.asked = 0;
    this.worker.addEventListener("message", ({ data }) => {
      const { resolve, reject, onProgress } = this.waiting.get(data.number);
      if (data.progress !== undefined) {
        onProgress?.(data.progress);
        return;
      }
      this.waiting.delete(data.number);
      if (data.error === undefined) resolve(data.answer);
      else reject(data.problems ? new Problems(data.problems) : new Error(data.error));
    });
    this.worker.addEventListener("error", (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message || "the engine did not start"));
      this.waiting.clear();
    });
  }

  ask(action, message = {}, onProgress = null) {
    const number = ++this.asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject, onProgress });
      this.worker.postMessage({ ...message, action, number });
    });
  }

  /** Ends the worker; nothing is asked of it any more. */
  end() {
    (this.worker.terminate ?? this.worker.close).call(this.worker);
  }

  load(warmUp) {
    return this.ask("load", { url: address("engine.wasm"), warmUp });
  }

  check(scenario, settings) {
    return this.ask("check", { scenario, settings });
  }

  set(scenario, settings, explained) {
    return this.ask("set", { scenario, settings, explained });
  }

  /** A whole run; `null` if it was stopped or a newer one has taken its place. `onProgress` gets the share that is done of a long one. */
  async run(message, onProgress) {
    const answer = await this.ask("run", { ...message, generation: this.asked + 1 }, onProgress);
    return answer.superseded ? null : answer;
  }

  /** Gives up the run that is going on. */
  stop() {
    return this.ask("stop", { generation: this.asked + 1 });
  }
}
