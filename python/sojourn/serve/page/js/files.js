// Where the files of the page are: beside it, or inside it where the page is one file, as in a notebook.

/** Contents of a page in one file: addresses of files by name, and its first state. */
export const inside = globalThis.sojournInside ?? null;

/** The address of a file of the page, such as `engine.wasm`. */
export const address = (name) => (inside ? inside.files[name] : new URL(`../${name}`, import.meta.url).href);

/** A file of the page. */
export async function file(name) {
  const answer = await fetch(address(name));
  if (!answer.ok) throw new Error(`${name} is not there (${answer.status})`);
  return answer;
}
