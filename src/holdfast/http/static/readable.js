// JSON for eyes: what fits on a line stays on one, and lists of plain values fill their lines.

const WIDTH = 64; // what the drawer has room for

/** The text of a value; an object on top always has a line for each of its names. */
export function readable(value, indent = "") {
  const line = JSON.stringify(value, null, 1).replace(/\n */g, " "); // a text has no line ends of its own in JSON
  const isPlain = value === null || typeof value !== "object" || Object.keys(value).length === 0;
  if (isPlain || (indent && indent.length + line.length <= WIDTH)) return line;
  const inner = `${indent}  `;
  if (!Array.isArray(value)) {
    const entries = Object.entries(value).map(([name, one]) => `${inner}${JSON.stringify(name)}: ${readable(one, inner)}`);
    return `{\n${entries.join(",\n")}\n${indent}}`;
  }
  const parts = value.map((one) => readable(one, inner));
  const rows = value.every((one) => one === null || typeof one !== "object") ? filled(parts, WIDTH - inner.length) : parts;
  return `[\n${rows.map((row) => inner + row).join(",\n")}\n${indent}]`;
}

function filled(parts, width) {
  const rows = [];
  for (const part of parts) {
    if (rows.length > 0 && rows.at(-1).length + part.length + 2 <= width) rows[rows.length - 1] += `, ${part}`;
    else rows.push(part);
  }
  return rows;
}
