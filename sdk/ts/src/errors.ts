/**
 * Said by the tool on purpose: the message reaches the caller word for word. Everything else that
 * is thrown counts as a failure.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** The host did not take a pending action. Nothing was pushed, and the tool may go on. */
export class PushError extends Error {
  override readonly name = "PushError";

  constructor(
    /** There is no store; a limit was reached; the action can't be shown to a person. */
    readonly kind: "store-unavailable" | "limit-exceeded" | "invalid",
    message: string,
  ) {
    super(message);
  }
}

/** A promise was rejected, and nobody awaits it. */
export class ForgottenError extends Error {
  constructor(reason: unknown) {
    super(`a promise that nobody awaits failed: ${messageOf(reason)}: a missing await?`);
    // It leads to where the mistake is.
    if (reason instanceof Error && reason.stack !== undefined) this.stack = reason.stack;
  }
}

/** A promise waits for a timer, and nobody awaits it. */
export class UnfinishedError extends Error {
  constructor(
    what: string,
    /** What was made when the timer was set. */
    set: Error,
  ) {
    super(`a promise that nobody awaits still waited for a timer when ${what} returned, so what follows it is lost: a missing await?`);
    if (set.stack !== undefined) this.stack = set.stack;
  }
}

/** Mistakes in the program: their names say more than their messages alone. */
const PROGRAM_ERRORS = [TypeError, RangeError, ReferenceError, SyntaxError, URIError, EvalError];

export function isProgramError(thrown: Error): boolean {
  return PROGRAM_ERRORS.some((kind) => thrown instanceof kind) || thrown.name === "InternalError";
}

/** What to say about something that was thrown, whatever it is. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) {
      const message = String(thrown.message) || String(thrown.name);
      return isProgramError(thrown) ? `${thrown.name}: ${message}` : message;
    }
    if (typeof thrown === "string") return thrown;
    if (typeof thrown === "object" && thrown !== null) {
      const { message } = thrown as { message?: unknown };
      return typeof message === "string" ? message : `the tool threw ${JSON.stringify(thrown)}`;
    }
    return `the tool threw ${String(thrown)}`;
  } catch {
    return "the tool threw a value that can't be shown";
  }
}
