// The little curves: how many jobs of a line waited in each second of the last minute, since the page was opened.

const POINTS = 60;
const STEP = 1.5;
const HEIGHT = 20;
const LOW = 4; // a few jobs are no peak
const SVG = "http://www.w3.org/2000/svg";
const depths = new Map(); // line -> the most that waited, second by second; the last one is the newest second
let newest = 0; // that second
let watched = 0; // how many of them there are

/** With each picture, and once a second: remember how deep every line is. Between two pictures nothing changes. */
export function sample(lines, keyOf) {
  const second = Math.floor(Date.now() / 1000);
  const passed = newest === 0 ? 1 : Math.min(Math.max(second - newest, 0), POINTS);
  const known = new Set(lines.map(keyOf));
  for (const key of [...depths.keys()]) if (!known.has(key)) depths.delete(key);
  for (const line of lines) {
    const points = depths.get(keyOf(line)) ?? Array(watched).fill(0); // it was in no picture: nothing waited
    for (let more = 1; more < passed; more += 1) points.push(points.at(-1) ?? line.waiting);
    if (passed > 0) points.push(line.waiting);
    else points[points.length - 1] = Math.max(points.at(-1) ?? 0, line.waiting); // so that a short peak is seen
    depths.set(keyOf(line), points.slice(-POINTS));
  }
  watched = Math.min(watched + passed, POINTS);
  newest = Math.max(second, newest);
}

export function makeCurve() {
  const curve = document.createElementNS(SVG, "svg");
  curve.setAttribute("viewBox", `0 0 ${POINTS * STEP} ${HEIGHT}`);
  curve.setAttribute("width", POINTS * STEP);
  curve.setAttribute("height", HEIGHT);
  curve.setAttribute("class", "spark");
  curve.setAttribute("role", "img");
  const ground = document.createElementNS(SVG, "path");
  ground.setAttribute("d", `M0,${HEIGHT - 0.5}H${POINTS * STEP}`);
  curve.append(ground, document.createElementNS(SVG, "path"));
  return curve;
}

/** A column a second, the newest at the right, all on one ground: so it has its whole width from the first second on. */
export function draw(curve, key) {
  const points = depths.get(key) ?? [];
  const highest = Math.max(LOW, ...points);
  const left = (POINTS - points.length) * STEP;
  const column = (value, index) => {
    const height = Math.max(2, (value / highest) * (HEIGHT - 2));
    return value > 0 ? `M${left + index * STEP},${HEIGHT}v${-height.toFixed(1)}h${STEP}V${HEIGHT}z` : "";
  };
  curve.lastChild.setAttribute("d", points.map(column).join(""));
  curve.setAttribute("aria-label", `${points.at(-1) ?? 0} waiting, ${Math.max(0, ...points)} at most in the last minute`);
}
