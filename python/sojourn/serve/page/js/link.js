// The state of a page in its address: nothing of it reaches a server.

const MOST = 1 << 20; // bytes of a scenario after inflating

async function through(stream, bytes, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error("the scenario of this link is larger than 1 MiB");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const toText = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const fromText = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

export const pack = async (text) =>
  toText(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text)));

export const unpack = async (text) =>
  new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), fromText(text), MOST));

const settings = (said) => new URLSearchParams(Object.entries(said)).toString();

/** The fragment for a state. */
export async function write({ scenario, a, b, seed, version }) {
  const parts = new URLSearchParams({ s: await pack(scenario), a: settings(a), seed: String(seed), v: version });
  if (b) parts.set("b", settings(b));
  return `#${parts}`;
}

const PARTS = ["s", "a", "b", "seed", "v"];

/** The state of a fragment, or null if it has none. Throws an error whose message says what is wrong with the link. */
export async function read(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  if (!parts.has("s")) return null;
  const unknown = [...parts.keys()].find((name) => !PARTS.includes(name));
  if (unknown !== undefined) throw new Error(`this link has a part "${unknown.slice(0, 40)}", which no link of Explore has`);
  const said = (name) => Object.fromEntries(new URLSearchParams(parts.get(name) ?? ""));
  const seed = parts.get("seed") ?? "1";
  if (!/^\d{1,10}$/.test(seed) || Number(seed) < 1 || Number(seed) >= 2 ** 32) {
    throw new Error(`the seed of this link is "${seed.slice(0, 40)}"; a seed is a whole number from 1 to ${2 ** 32 - 1}`);
  }
  const scenario = await unpack(parts.get("s")).catch((error) => {
    throw new Error(error.message.includes("MiB") ? error.message : "the scenario in this link is damaged or cut off");
  });
  return { scenario, a: said("a"), b: parts.has("b") ? said("b") : null, seed: Number(seed), version: parts.get("v") ?? "" };
}

const LONGEST = 8000; // chosen: what mail programs and chats carry without cutting it

/** Makes the address that of a state; whether it fits into one. */
export async function keep(state) {
  const fragment = await write(state);
  const fits = fragment.length <= LONGEST;
  history.replaceState(null, "", fits ? fragment : location.pathname + location.search);
  return fits;
}

/** Makes the address that of a state and copies it; what to say of that. */
export async function copy(state) {
  if (!(await keep(state))) return "This scenario is too long for a link; take the file instead.";
  try {
    await navigator.clipboard.writeText(location.href);
    return "The link is copied; it is in the address, too.";
  } catch {
    return "The link is in the address.";
  }
}
