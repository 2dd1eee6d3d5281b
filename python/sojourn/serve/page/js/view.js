// Preact, htm and signals in one place.

import { h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";
import { useState } from "../vendor/hooks.js";

export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
export { batch, signal } from "../vendor/signals.js";
export const html = htm.bind(h);
export { render };

/** A part that is loaded when it is opened: `load` gives its component. */
export function Later({ title, load, ...rest }) {
  const [part, show] = useState(null);
  const begin = () => load().then((Part) => show(() => Part), (error) => show(() => () => html`<p class="problems">${error.message}</p>`));
  return html`<details class="later" onToggle=${(event) => { if (event.currentTarget.open && !part) begin(); }}>
    <summary>${title}</summary>${part ? html`<${part} ...${rest} />` : null}</details>`;
}
