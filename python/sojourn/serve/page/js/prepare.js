// The start of a page that has a run: what it needs is fetched, its state is in the address.

import { ask, wanted } from "./server.js";
import { Model } from "./state.js";

const page = new URL("../", import.meta.url);

/** The model of a page, and what fetches its files; the scenario is that of the address, or else `file`. */
export async function prepare(file) {
  const get = async (name) => {
    const answer = await fetch(new URL(name, page));
    if (!answer.ok) throw new Error(`${name} is not there (${answer.status})`);
    return answer;
  };
  const sliders = await (await get("sliders.json")).json();
  // Few addresses say more than a page: what reads them is fetched for those.
  const linked = /[#&]s=/.test(location.hash)
    ? await import("./link.js").then(({ read }) => read(location.hash)).catch((error) => ({ error })) : null;
  const stored = location.hash === "#stored" ? (await import("./stored.js")).storedRun() : null;
  const named = wanted.file ? (await ask(`scenarios/${wanted.file}`)).text : null;
  const scenario = linked?.scenario ?? stored?.scenario ?? named ?? (await (await get(file)).text());
  const model = new Model({
    sliders, scenario, ...(linked && !linked.error ? linked : {}), ...(stored ? { seed: stored.seed } : {}),
  });
  model.stored = stored;
  globalThis.sojourn = model; // for tests, and for whoever is curious
  if (linked?.error) model.problems.value = [{ path: "link", message: linked.error.message, hint: "" }];
  return { model, get };
}
