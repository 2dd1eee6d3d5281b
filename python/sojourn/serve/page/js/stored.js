// A stored run on its way to Explore: too long for an address, so it waits in this tab.

const KEY = "sojourn-run";

/** Keeps a run and goes to Explore. */
export async function rememberStored(run) {
  sessionStorage.setItem(KEY, JSON.stringify(run));
  location.assign("explore.html#stored");
}

/** The run that was kept. */
export const storedRun = () => JSON.parse(sessionStorage.getItem(KEY));

/** Returns true if a run made again has the stored metrics; null if there are none. */
export function asStored(stored, metrics) {
  if (!stored?.metrics?.length || !metrics) return null;
  const now = new Map(metrics.map(([subject, metric, value]) => [`${subject}/${metric}`, value]));
  const known = stored.metrics.filter(([subject, metric, value]) => value !== null && now.has(`${subject}/${metric}`));
  return known.length > 0 && known.every(([subject, metric, value]) => {
    const other = now.get(`${subject}/${metric}`);
    return other === value || Math.abs(other - value) <= 1e-9 * Math.abs(value);
  });
}
