// What a game shows of a hand, from the delays of its packets.

/**
 * Where the hand was that the screen shows, at each time: a packet up carries it, the next one down brings it back. What was lost
 * brings nothing, so the picture stays. Times in ms, `at` ascending; `sent` never goes back.
 */
export function echoes(up, down) {
  const [left, delays] = up.columns;
  const [returned, back] = down.columns;
  const found = [];
  let next = 0;
  const arrived = Array.from(left, (sent, row) => [sent + delays[row], sent])
    .filter(([there]) => Number.isFinite(there)).sort((a, b) => a[0] - b[0]);
  for (const [there, sent] of arrived) {
    while (next < returned.length && !(returned[next] >= there && Number.isFinite(back[next]))) next++;
    if (next === returned.length) break;
    found.push([returned[next] + back[next], sent]);
  }
  found.sort((a, b) => a[0] - b[0]);
  let latest = 0;
  return found.map(([at, sent]) => ({ at, sent: (latest = Math.max(latest, sent)) }));
}

/** The last of ascending rows whose `key` is not above a value, or null. */
export function lastBefore(rows, key, value) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][key] <= value) low = middle + 1;
    else high = middle;
  }
  return low ? rows[low - 1] : null;
}

/** Positions of a hand over some seconds. */
export class Hand {
  constructor(keep = 10000) {
    this.keep = keep;
    this.been = [];
  }

  /** It is at `x`, `y` at a time in ms. */
  move(at, x, y) {
    this.been.push({ at, x, y });
    if (this.been.length > 4 && this.been[this.been.length >> 1].at < at - this.keep) this.been.splice(0, this.been.length >> 1);
  }

  /** Returns its position at a time. */
  was(at) {
    return lastBefore(this.been, "at", at) ?? this.been[0] ?? { x: 0.5, y: 0.5 };
  }
}
