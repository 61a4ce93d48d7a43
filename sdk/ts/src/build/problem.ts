/** What is wrong with a project, and where. */
export interface Problem {
  readonly stage: "project" | "types" | "bundle" | "component";
  readonly message: string;
  /** Relative to the project. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  /** What to do about it. */
  readonly help?: string;
}

/** The build ended early. */
export class BuildError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(({ message }) => message).join("; "));
  }
}

export function fail(problem: Problem): never {
  throw new BuildError([problem]);
}

/** A problem as compilers write theirs: a line, and below it what to do. */
export function describeProblem({ message, file, line, column, help }: Problem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  return `error: ${place ? `${place}: ` : ""}${message}${help ? `\n  help: ${help}` : ""}`;
}
