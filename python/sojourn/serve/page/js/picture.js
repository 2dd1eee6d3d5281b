// From the frames of a run to the curves of panels, and to the numbers and words beside them.

const CAUSES = [
  ["sender", "sender"], ["recovery", "loss recovery"], ["queue", "queue"], ["request_wait", "wait for request"],
  ["grant_wait", "wait for grant"], ["framing", "framing"], ["pipeline", "pipelines"],
  ["serialisation", "serialisation"], ["wire", "propagation"], ["hold", "wait for a slot"], ["switching", "switching"],
];

const onAir = (run) => run.links.some((link) => link.startsWith("wifi."));

/** Names of the same causes on a Wi-Fi channel: docs/models/wifi.md. */
const ON_AIR = { framing: "rest of the aggregate", pipeline: "firmware and retries", hold: "wait for the air" };

const pick = (run, kind, subject) =>
  run.series.find((one) => one.kind === kind && Object.entries(subject).every(([key, of]) => one[key] === of));

const column = (series, name) => series.columns[series.names.indexOf(name)];

const times = (series) =>
  Array.from({ length: series.rows }, (_, row) => (series.first + row) * series.width);

/** The entry whose delay is shown: a call or another stream, else the first. */
export function listener(run) {
  const flow = run.flows.find((one) => one.direction === "upstream") ?? run.flows[0];
  return flow?.traffic ?? run.traffic[0];
}

/** The link whose backlog is shown: the first upstream, or the fullest downstream where the entry whose delay is shown is only sent there. */
export function queueShown(run) {
  const traffic = listener(run);
  const only = run.flows.filter((flow) => flow.traffic === traffic).every((flow) => flow.direction === "downstream") && run.flows.length > 0;
  const links = run.links.filter((name) => name.endsWith(only ? "downstream" : "upstream"));
  if (!only || links.length < 2) return links[0] ?? run.links[0];
  const most = (link) => column(pick(run, "backlog", { link }), "most_bytes").reduce((a, b) => Math.max(a, b), 0);
  return links.reduce((best, link) => (most(link) > most(best) ? link : best));
}

/** Single packets are drawn when a pixel is at most this many ms of the run; chosen: those of a call, one each 20 ms, are two pixels apart. */
const CLOSE_MS = 10;

/**
 * The single packets that a picture shows if it is close enough, of the entry whose delay it shows: when each was sent and when it
 * arrived, in s, its delay in ms (null if it was lost), and its fate.
 */
export function packetsSeen(run, pixels) {
  if (((run.until - run.from) * 1000) / pixels > CLOSE_MS) return [];
  const traffic = listener(run);
  const place = run.flows.findIndex((flow) => flow.traffic === traffic);
  if (place < 0) return [];
  const [sent, delays, late] = run.packets[place].columns;
  const found = [];
  sent.forEach((at, row) => {
    const [from, delay] = [at / 1000, delays[row]];
    const until = Number.isFinite(delay) ? from + delay / 1000 : from;
    if (until < run.from || from > run.until || Number.isNaN(delay)) return;
    found.push({ from, until, delay: delay === Infinity ? null : delay, fate: delay === Infinity ? "lost" : late[row] ? "late" : "in time" });
  });
  return found;
}

/** Curves of a panel: times, and rows of label, values, and quantity. */
export const PANELS = [
  {
    key: "queue", title: "backlog of the queue, upstream", unit: "kB", figures: 0,
    name: (run) => `backlog of the queue, ${queueShown(run).replace("/", " ")}`,
    curves(run) {
      const series = pick(run, "backlog", { link: queueShown(run) });
      return [times(series), [["longest", Array.from(column(series, "most_bytes"), (bytes) => bytes / 1000)]]];
    },
  },
  {
    key: "delay", title: "delay by cause", unit: "ms", figures: 0, stacked: true,
    // Of datagrams what the table has, too: from the queue to the far end of the line. Of connections the senders' part as well.
    name: (run) => `delay of the ${listener(run)} ${!run.flows.length ? "from write to arrival" : onAir(run) ? "on the line and the Wi-Fi" : "on the line"}, by cause`,
    curves(run) {
      const traffic = listener(run);
      const series = pick(run, "causes_up", { traffic }) ?? pick(run, "causes_down", { traffic });
      if (!series) return [[], []];
      const packets = column(series, "packets");
      const mean = (name) => held(Array.from(column(series, name), (sum, row) => (packets[row] ? sum / packets[row] : null)), series.width);
      const parts = CAUSES.map(([name, label]) => [(onAir(run) && ON_AIR[name]) || label, mean(name), name]);
      return [times(series), parts.filter(([, values]) => values.some((value) => value > 0.005))];
    },
  },
  {
    key: "window", title: "window of the first connection", unit: "segments", figures: 0,
    curves(run) {
      const series = run.series.find((one) => one.kind === "sender");
      return series ? [times(series), [["window", Array.from(column(series, "window_segments"), finite)]]] : [[], []];
    },
  },
  {
    key: "received", title: "data received, mean of the last second", unit: "Mb/s", figures: 1,
    curves(run) {
      const found = run.series.filter((one) => one.kind === "received_up" || one.kind === "received_down");
      const curves = found.map((one) => {
        const direction = one.kind === "received_down" ? " down" : " up";
        return [one.traffic + direction, lastSecond(one.columns[0], one.width).map((bytes) => (bytes * 8) / 1e6)];
      });
      return [found.length ? times(found[0]) : [], curves];
    },
  },
];

const made = new WeakMap(); // curves by run and panel: several ask for the same

/** Curves of a panel for a run. */
export function curvesOf(panel, run) {
  if (!made.has(run)) made.set(run, new Map());
  const found = made.get(run);
  if (!found.has(panel.key)) found.set(panel.key, panel.curves(run));
  return found.get(panel.key);
}

/** Values at other times: of a run with bins of its own, or of which less was simulated. */
export function along(x, times, values) {
  const step = times[1] - times[0];
  if (x.length === times.length && x[0] === times[0] && x[1] === times[1]) return values;
  return x.map((at) => values[Math.round((at - times[0]) / step)] ?? null);
}

/** Of each bin, the sum over the last second. */
function lastSecond(values, width) {
  const bins = Math.max(1, Math.round(1 / width));
  let sum = 0;
  return Array.from(values, (value, row) => {
    sum += value - (row >= bins ? values[row - bins] : 0);
    return Math.max(0, sum) / (bins * width);
  });
}

const HOLD_S = 0.2; // chosen: some packets of a game, which sends one in three bins

/** Fills short gaps with what was last seen: a packet's delay stands until the next packet comes. */
export function held(values, width) {
  const most = Math.round(HOLD_S / width);
  let last = null;
  let gap = 0;
  return values.map((value) => {
    gap = value === null ? gap + 1 : 0;
    if (value !== null) last = value;
    return gap > most ? null : last;
  });
}

const finite = (value) => (Number.isFinite(value) ? value : null);

/** The sum of a stacked panel: one curve to compare. */
export const total = ([x, curves]) => [
  x,
  x.map((_, row) => {
    let sum = null;
    for (const [, values] of curves) if (values[row] != null) sum = (sum ?? 0) + values[row];
    return sum;
  }),
];

/** A look-up of the metrics of a run. */
const metricOf = (run) => (subject, name) => run.metrics?.find((row) => row[0] === subject && row[1] === name)?.[2];

const delayOf = (metric, subject) => metric(subject, "delay_up_p99") ?? metric(subject, "delay_down_p99");

const goesBothWays = (run, subject) => run.flows.filter(({ traffic }) => traffic === subject).length > 1;

/** The main numbers of a run: label, value, unit, figures, and which way is better. */
export function readings(run) {
  const metric = metricOf(run);
  const found = [];
  const add = (label, value, unit, figures, better) => {
    if (value !== undefined && value !== null) found.push({ label, value, unit, figures, better });
  };
  for (const subject of run.traffic) {
    add(`${subject}: MOS`, metric(subject, "mos"), "", 2, 1);
    if (metric(subject, "mos") !== undefined) {
      add(`${subject}: delay on the line, P99`, delayOf(metric, subject), "ms", 0, -1);
      add(`${subject}: lost or late`, metric(subject, "loss_total"), "%", 1, -1);
    } else if (goesBothWays(run, subject)) {
      add(`${subject}: delay up on the line, median`, metric(subject, "delay_up_p50"), "ms", 1, -1);
      add(`${subject}: round trip on the line, P99`, metric(subject, "delay_round_trip_p99"), "ms", 0, -1);
    } else {
      const goodput = metric(subject, "goodput");
      const down = metric(subject, "goodput_downstream");
      if (goodput > 0.01) add(`${subject}: mean goodput up`, goodput, "Mb/s", 2, 1);
      if (down > 0.01) add(`${subject}: mean goodput down`, down, "Mb/s", 2, 1);
    }
  }
  add("unused grants, low-latency flow", metric("upstream/low_latency", "unused_grants"), "kB", 0, -1);
  add("mean queuing delay, upstream", metric("upstream", "sojourn_mean"), "ms", 1, -1);
  let drops = 0;
  for (const one of run.series) if (one.kind === "signals") for (const count of one.columns[0]) drops += count;
  add("packets dropped", drops, "", 0, -1);
  add("packets marked, upstream", metric("upstream", "marked_packets") || undefined, "", 0, 0);
  return found;
}

/** The sentence that a run is read by: how the first stream of packets or the first page fares, and what the others get meanwhile. */
export function headline(run) {
  const metric = (subject, name) => metricOf(run)(subject, name) ?? undefined;
  const ms = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  const fares = (subject) => {
    const [mos, lost] = [metric(subject, "mos"), metric(subject, "loss_total")];
    if (mos !== undefined) {
      return `waits up to ${ms(delayOf(metric, subject))} (P99), MOS ${mos.toFixed(1)}${lost > 0.05 ? `, and ${lost.toFixed(1)} % of its packets are lost or late` : ""}`;
    }
    const both = goesBothWays(run, subject) ? metric(subject, "delay_round_trip_p99") : undefined;
    if (both !== undefined) return `takes up to ${ms(both)} there and back on the line (P99)`;
    const load = metric(subject, "page_load_time_median");
    return load === undefined ? undefined : `loads in ${load.toFixed(2)} s (median)`;
  };
  const felt = run.traffic.find((subject) => metric(subject, "mos") !== undefined) ?? run.traffic.find(fares);
  const gets = run.traffic.filter((subject) => subject !== felt)
    .map((subject) => [subject, Math.max(metric(subject, "goodput") ?? 0, metric(subject, "goodput_downstream") ?? 0)])
    .filter(([, rate]) => rate > 0.1).slice(0, 3).map(([subject, rate]) => `${subject} gets ${Number(rate.toPrecision(2))} Mb/s`);
  if (!felt && !gets.length) return "";
  return felt ? `The ${felt} ${fares(felt)}${gets.length ? `, while ${gets.join(" and ")}` : ""}.` : `In the mean ${gets.join(" and ")}.`;
}

/** One sentence for a curve. */
export function words(name, unit, [x, values], figures) {
  let [least, most, at, first] = [Infinity, -Infinity, 0, null];
  values.forEach((value, row) => {
    if (value === null || Number.isNaN(value)) return;
    first ??= value;
    if (value > most) [most, at] = [value, x[row]];
    least = Math.min(least, value);
  });
  if (first === null) return `${name}: no data.`;
  const text = (value) => `${value.toFixed(figures)} ${unit}`;
  return `${name}: ${text(first)} at first, at least ${text(least)}, at most ${text(most)} at ${at.toFixed(1)} s.`;
}

/** Rows of time and value for a table, at most `most`. */
export function rows([x, values], most = 25) {
  const step = Math.max(1, Math.ceil(x.length / most));
  const found = [];
  for (let row = 0; row < x.length; row += step) found.push([x[row], values[row]]);
  return found;
}
