/**
 * `value` as JSON. What `JSON.stringify` would leave out or mangle in silence is refused instead; properties that are
 * `undefined` are left out.
 * @param what what the value is, for the error
 */
export function toJson(value: unknown, what: string): string {
  const refused = refusal(value, []);
  if (refused) throw new Error(`${what} can't be written as JSON: ${refused}`);
  const text = JSON.stringify(value);
  // Half a surrogate pair is no text in any other language.
  return text.includes("\\ud") ? JSON.stringify(value, (_key, part) => (typeof part === "string" ? part.toWellFormed() : part)) : text;
}

function refusal(value: unknown, above: Step[]): string | undefined {
  const at = () => placeOf(above);
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${at()} is ${value}`;
    case "object":
      break;
    default:
      return `${at()} is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}`;
  }
  if (value === null) return undefined;
  if (above.some((step) => step.within === value)) return `${at()} contains itself`;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      above.push({ within: value, key: `[${index}]` });
      const refused = refusal(value[index], above);
      if (refused) return refused;
      above.pop();
    }
    return undefined;
  }
  const prototype = Object.getPrototypeOf(value) as object | null;
  const unusual = ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Map || value instanceof Set;
  if (unusual) return `${at()} is a ${prototype?.constructor?.name ?? "buffer"}`;
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    above.push({ within: value, key: `.${key}` });
    const refused = refusal(part, above);
    if (refused) return refused;
    above.pop();
  }
  return undefined;
}

interface Step {
  readonly within: object;
  readonly key: string;
}

function placeOf(above: readonly Step[]): string {
  const place = above.map(({ key }) => key).join("");
  return place.startsWith(".") ? place.slice(1) : place || "it";
}
