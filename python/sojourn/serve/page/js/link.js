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

/** The state of a fragment, or null if it has none. */
export async function read(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  if (!parts.has("s")) return null;
  const said = (name) => Object.fromEntries(new URLSearchParams(parts.get(name) ?? ""));
  const seed = Number(parts.get("seed"));
  return {
    scenario: await unpack(parts.get("s")),
    a: said("a"),
    b: parts.has("b") ? said("b") : null,
    seed: Number.isInteger(seed) && seed > 0 && seed < 2 ** 32 ? seed : 1,
    version: parts.get("v") ?? "",
  };
}
