import { readdir } from "./tree.js";

/**
 * The files of the workspace whose paths match `pattern`, sorted.
 *
 * `*` stands for any characters of one name and `?` for one, `**` as a whole name for any folders or
 * none, and at the end for all that is below; `{ts,json}` is either. Nothing else is special, and
 * capital letters differ from small ones. A name that begins with a dot is matched only by a pattern
 * that has that dot, so that `.git` is not entered unless it is named.
 *
 * The paths are relative to the workspace, with `/` between their names. Only files are in it, each
 * once: symbolic links are neither followed nor listed. That nothing matches is no error.
 * @throws {FileError} where a folder can't be read
 */
export async function glob(pattern: string): Promise<string[]> {
  const steps = compile(pattern);
  const found: string[] = [];
  // Each but the workspace itself ends with `/`.
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(`./${folder}`, { withFileTypes: true })) {
      const path = folder + entry.name;
      if (entry.isDirectory()) {
        if (follow(steps, `${path}/`).reached.includes(true)) folders.push(`${path}/`);
      } else if (entry.isFile() && matches(steps, path)) found.push(path);
    }
  }
  return found.sort(byCharacters);
}

/** Whether a path matches a pattern of `glob`, whatever is there. */
export function matchesGlob(pattern: string, path: string): boolean {
  return matches(compile(pattern), withoutDot(path));
}

/**
 * What a pattern asks of a path, step by step. A path is followed through all of its ways at once,
 * so that no pattern takes longer than its length times the path's.
 */
type Step =
  | { readonly kind: "character"; readonly character: string }
  | { readonly kind: "one" | "many" }
  /** `**` and `/`: between two names, and behind that within a name. */
  | { readonly kind: "folders" | "inside" }
  /** An alternative begins here, and the next one at that step; or it ends here, and its braces there. */
  | { readonly kind: "either" | "jump"; to: number };

function compile(pattern: string): Step[] {
  const characters = [...withoutDot(pattern)];
  const steps: Step[] = [];
  // Of the braces that are open: the latest alternative, and where others ended.
  const open: { alternative: { to: number }; ends: { to: number }[] }[] = [];
  const begin = () => {
    const alternative = { kind: "either" as const, to: steps.length + 1 };
    steps.push(alternative);
    return alternative;
  };
  for (let at = 0; at < characters.length; ) {
    const character = characters[at] as string;
    const within = open.at(-1);
    const after = character === "*" ? behindFolders(characters, at, within !== undefined) : undefined;
    if (after !== undefined) {
      steps.push({ kind: "folders" }, { kind: "inside" });
      if (characters[after - 1] === "*") steps.push({ kind: "many" });
      at = after;
      continue;
    }
    at++;
    if (character === "*") steps.push({ kind: "many" });
    else if (character === "?") steps.push({ kind: "one" });
    else if (character === "{" && isClosed(characters.slice(at))) open.push({ alternative: begin(), ends: [] });
    else if (character === "," && within) {
      const end = { kind: "jump" as const, to: 0 };
      steps.push(end);
      within.ends.push(end);
      within.alternative.to = steps.length;
      within.alternative = begin();
    } else if (character === "}" && within) {
      for (const end of within.ends) end.to = steps.length;
      open.pop();
    } else steps.push({ kind: "character", character });
  }
  return steps;
}

/** Where the pattern goes on behind a `**` that is a whole name, with its `/`. */
function behindFolders(characters: string[], at: number, isWithin: boolean): number | undefined {
  const [before = "/", after] = [characters[at - 1], characters[at + 2]];
  if (characters[at + 1] !== "*" || !(before === "/" || (isWithin && "{,".includes(before)))) return undefined;
  if (after === "/") return at + 3;
  return after === undefined || (isWithin && ",}".includes(after)) ? at + 2 : undefined;
}

/** Whether there is a `}` for the `{` before. */
function isClosed(rest: string[]): boolean {
  let depth = 1;
  for (const character of rest) {
    depth += Number(character === "{") - Number(character === "}");
    if (depth === 0) return true;
  }
  return false;
}

function matches(steps: Step[], path: string): boolean {
  const { reached, begins } = follow(steps, path);
  skip(steps, reached, begins, undefined);
  return reached[steps.length] === true;
}

/** The steps that are next behind `path`, and whether a name begins there. */
function follow(steps: Step[], path: string): { reached: boolean[]; begins: boolean } {
  let reached = steps.map((_, at) => at === 0);
  reached.push(steps.length === 0);
  let begins = true;
  for (const character of path) {
    skip(steps, reached, begins, character);
    const isName = character !== "/";
    const isShown = isName && !(begins && character === ".");
    const next = reached.map(() => false);
    steps.forEach((step, at) => {
      if (!reached[at]) return;
      if (step.kind === "character" && step.character === character) next[at + 1] = true;
      else if (step.kind === "one" && isShown) next[at + 1] = true;
      else if (step.kind === "many" && isShown) next[at] = true;
      else if (step.kind === "folders" && begins && isShown) next[at + 1] = true;
      else if (step.kind === "inside") next[isName ? at : at - 1] = true;
    });
    reached = next;
    begins = !isName;
  }
  return { reached, begins };
}

/** Adds the steps that are reached without a character. All of these lie ahead. */
function skip(steps: Step[], reached: boolean[], begins: boolean, character: string | undefined): void {
  steps.forEach((step, at) => {
    if (!reached[at]) return;
    // `*.md` is not `.md`.
    if (step.kind === "many" && !(begins && character === ".")) reached[at + 1] = true;
    else if (step.kind === "folders" && begins) reached[at + 2] = true;
    else if (step.kind === "either") reached[at + 1] = reached[step.to] = true;
    else if (step.kind === "jump") reached[step.to] = true;
  });
}

function withoutDot(path: string): string {
  return path.startsWith("./") ? path.slice(2) : path;
}

/** Where JavaScript would compare halves of characters. */
function byCharacters(one: string, other: string): number {
  const [left, right] = [[...one], [...other]];
  for (let at = 0; at < left.length && at < right.length; at++) {
    const difference = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
