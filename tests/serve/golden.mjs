// Prints the hash of each column of a run of the engine in Node.js: node golden.mjs ENGINE.wasm < JSON of the run.
// An array of runs in, lines of the golden file out; for `repeat`, milliseconds of each further run instead.

import { readFile } from "node:fs/promises";
import { Engine } from "../../python/sojourn/serve/page/js/engine.js";

const engine = await Engine.load(await readFile(process.argv[2]));
let input = "";
for await (const part of process.stdin) input += part;
for (const { name, scenario, settings, seconds } of JSON.parse(input)) {
  const session = engine.open(scenario, { settings, seconds, records: true });
  while (!session.advance(Infinity, 20000));
  for (const line of session.close(true)) {
    const [hash, rows, column] = line.trim().split(/\s+/);
    console.log(`${hash} ${rows.padStart(5)} ${name} ${column}`);
  }
}
