// Preact, htm and signals in one place.

import { h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { useEffect, useRef, useState } from "../vendor/hooks.js";
export { signal, computed, effect, batch } from "../vendor/signals.js";
export const html = htm.bind(h);
export { render };
