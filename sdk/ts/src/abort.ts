import { log } from "airlock:tool/host@0.1.0";
import { exit } from "wasi:cli/exit@0.2.12";

/**
 * Ends the instance at once, for a program whose own state can't be trusted any more. Nothing
 * catches it.
 */
export function abort(message: string): never {
  log("error", message.toWellFormed());
  exit({ tag: "err", val: undefined });
  throw new Error(message);
}
