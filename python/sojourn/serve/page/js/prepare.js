// The start of a page that has a run: its files are fetched, its state is in the address.

import { file, inside } from "./files.js";
import { ask, wanted } from "./server.js";
import { Model } from "./state.js";

/** Returns true if an address has a scenario. */
export const isLink = (fragment) => /[#&]s=/.test(fragment);

/** The model of a page; its scenario is that of the address, or else the one that is named. */
export async function prepare(name) {
  const sliders = await (await file("sliders.json")).json();
  // Few addresses say more than a page: what reads them is fetched for those.
  const linked = isLink(location.hash)
    ? await import("./link.js").then(({ read }) => read(location.hash)).catch((error) => ({ error })) : null;
  // An address that is typed into an open page changes its fragment alone.
  addEventListener("hashchange", () => location.reload());
  const kept = location.hash === "#stored" ? await import("./stored.js") : null;
  const stored = kept?.storedRun();
  const named = wanted.file ? (await ask(`scenarios/${wanted.file}`)).text : null;
  // Nothing is drawn in place of a link that cannot be read.
  const scenario = linked?.error ? "" : linked?.scenario ?? stored?.scenario ?? named ?? (await (await file(name)).text());
  const model = new Model({
    sliders, scenario, ...inside?.begin, ...(linked && !linked.error ? linked : {}), ...(stored ? { seed: stored.seed } : {}),
  });
  model.stored = stored;
  if (kept) model.asStored = (metrics) => kept.asStored(stored, metrics);
  model.madeWith = linked?.version ?? "";
  globalThis.sojourn = model; // for tests, and for the console
  if (linked?.error) model.refuse(linked.error.message);
  return model;
}
