/**
 * `value` as JSON. What `JSON.stringify` would leave out or mangle in silence is refused instead;
 * properties that are `undefined` are left out.
 *
 * @param what what the value is, for the error
 * @param name what its places begin with
 */
export function toJson(value: unknown, what: string, name: string): string {
  const refused = refusal(value, [{ within: undefined, key: name }]);
  if (refused) throw new Error(`${what} can't be written as JSON: ${refused}`);
  const text = JSON.stringify(value);
  // Half a surrogate pair is no text in any other language.
  return text.includes("\\ud") ? JSON.stringify(value, (_key, part) => (typeof part === "string" ? part.toWellFormed() : part)) : text;
}

/** Whether something is still to come. Not all promises are of one class. */
export function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** What is said of a promise where its value is needed. */
export const MISSING_AWAIT = "is a promise: a missing await?";

function refusal(value: unknown, above: Step[]): string | undefined {
  const at = () => above.map(({ key }) => key).join("");
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
  if (isPromise(value)) return `${at()} ${MISSING_AWAIT}`;
  if (above.some((step) => step.within === value)) return `${at()} contains itself`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? `${at()} is an invalid Date` : undefined;
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return inside(value, "", (toJSON as (key: string) => unknown).call(value, ""), above);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const refused = inside(value, `[${index}]`, value[index], above);
      if (refused) return refused;
    }
    return undefined;
  }
  if (!isPlain(value)) return `${at()} is a ${nameOf(value)}, which JSON would lose`;
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    const refused = inside(value, /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`, part, above);
    if (refused) return refused;
  }
  return undefined;
}

/** Where the walk is. */
interface Step {
  readonly within: unknown;
  readonly key: string;
}

function inside(within: object, key: string, part: unknown, above: Step[]): string | undefined {
  above.push({ within, key });
  const refused = refusal(part, above);
  above.pop();
  return refused;
}

/** Whether an object is no more than its properties: not of a class, in whichever realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  const { constructor } = value as { constructor?: { name?: unknown } };
  return typeof constructor?.name === "string" && constructor.name ? constructor.name : "object of a class";
}
