// What asks the page's own server. The token stands behind the `#` of the link that the terminal shows; it stays in this tab.

const parts = new URLSearchParams(location.hash.replace(/^#/, ""));

/** Parts of the link besides the token. */
export const wanted = { file: parts.get("file"), result: parts.get("result") };

/** True if this is a page of `sojourn serve` and not a file of some host. */
export const served = "served" in document.getElementById("page").dataset;

if (parts.has("k")) {
  sessionStorage.setItem("sojourn", parts.get("k"));
  parts.delete("k");
  history.replaceState(null, "", `${location.pathname}${parts.size ? `#${parts}` : ""}`);
}

/** Asks for something below `api/`; throws what the server says is wrong. */
export async function ask(name, { method = "GET", body } = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem("sojourn")}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(new URL(`../api/${name}`, import.meta.url), {
    method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store",
  });
  const said = await answer.json().catch(() => ({ error: `no answer (${answer.status})` }));
  if (!answer.ok) throw new Error(said.error);
  return said;
}
