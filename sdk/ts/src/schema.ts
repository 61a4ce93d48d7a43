import { ToolError } from "./errors.js";

/** What TypeBox's types are, as far as it matters here. */
interface WithStatic {
  readonly static: unknown;
}

/** Schemas that implement the Standard Schema and Standard JSON Schema, for example zod's. */
interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate?: (value: unknown) => Validated | Promise<Validated>;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output: (options: { target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

type Validated = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** TypeBox, zod, arktype or any other Standard JSON Schema, or a JSON Schema as an object. */
export type Schema = object;

/** The type of what fits a schema; `any` for a plain JSON Schema. */
export type Static<S> = S extends WithStatic
  ? S["static"]
  : S extends { readonly "~standard": { readonly types?: infer T } }
    ? NonNullable<T> extends { readonly output: infer Output }
      ? Output
      : any
    : any;

const target = { target: "draft-2020-12" } as const;

/** The JSON Schema of `schema`, as text. `what` is for the error. */
export function jsonSchema(schema: Schema, side: "input" | "output", what: string): string {
  const standard = standardOf(schema);
  if (!standard) return JSON.stringify(schema);
  if (!standard.jsonSchema) {
    const { vendor } = standard;
    throw new Error(`${what}: this schema of ${vendor} has no form in JSON Schema; update ${vendor} (zod: 4.2 or later; arktype: 2.1.28 or later), or give a JSON Schema`);
  }
  return JSON.stringify(standard.jsonSchema[side](target));
}

/** `params` as `execute` gets them: with the defaults and conversions of a Standard Schema. */
export async function readParams(schema: Schema, params: unknown): Promise<unknown> {
  const validate = standardOf(schema)?.validate;
  if (!validate) return params;
  const result = await validate(params);
  if (result.issues) throw new ToolError(`the params don't fit: ${result.issues.map(describe).join("; ")}`);
  return result.value;
}

function standardOf(schema: Schema): StandardSchema["~standard"] | undefined {
  return (schema as Partial<StandardSchema>)["~standard"];
}

function describe({ message, path = [] }: Issue): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  return keys.length > 0 ? `${keys.join(".")}: ${message}` : message;
}
