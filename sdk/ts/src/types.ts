import type { Static as SchemaStatic, Schema } from "./schema.js";
import type * as typebox from "./typebox.js";
/** @ts-ignore: optional, and `any` if it is not installed. */
import type { type as arktype } from "arktype";
/** @ts-ignore: optional, and `any` if it is not installed. */
import type * as zod from "zod";

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** Text or Markdown. */
export interface TextContent {
  type: "text";
  text: string;
}

/** A picture: its bytes, or the same in base64. */
export interface ImageContent {
  type: "image";
  data: Uint8Array | string;
  /** A media type, for example `image/png`. */
  mimeType: string;
}

/** A pointer to a resource instead of the resource itself. */
export interface ResourceLink {
  type: "resource_link";
  /** An absolute URI, for example `file:///workspace/report.html`. */
  uri: string;
  /** What to call it in a list; one line. */
  name: string;
  mimeType?: string;
}

/**
 * Nothing has this type. A result is what a call gives back that succeeded: a failed apply that
 * returned one would count as applied. Say an error with `throw new ToolError(text)`.
 */
export interface ThrowAToolErrorInstead {
  readonly "throw new ToolError(text) instead": never;
}

/** What a tool gives back: `content` is for the model, `details` for programs. */
export interface AgentToolResult<TDetails = unknown> {
  content: (TextContent | ImageContent | ResourceLink)[];
  /** A value with a form in JSON. */
  details?: TDetails;
  /**
   * An error is thrown, and not returned. Where a result that came from elsewhere is one, the call
   * fails with its text.
   */
  isError?: false | ThrowAToolErrorInstead | undefined;
}

/** Tells whoever waits how far the call is: the text of a partial result. */
export type AgentToolUpdateCallback = (partial: AgentToolResult) => void;

/** The decision about a pending action. */
export interface Resolution {
  /** What `pushPendingAction` returned. */
  readonly actionId: string;
  readonly label: string;
  readonly sourceToolName: string;
  /** Why it was decided so. It should not change what happens. */
  readonly reason: string;
  /** Whatever else came with the decision. */
  readonly extra: Record<string, unknown> | undefined;
  /** 1 for the first try; higher after a failed or interrupted one. */
  readonly attempt: number;
  /** Aborted when nobody wants the answer any more. */
  readonly signal: AbortSignal;
}

interface PendingActionBase {
  /** What would happen, for the person who decides: one line, not empty. */
  label: string;
  /** For reviewers: a value with a form in JSON. */
  details?: unknown;
  /** The tool that made the preview; the one that is running where none is given. */
  sourceToolName?: string;
}

/** An action that lives in this instance's memory: with closures, and gone when the instance is. */
export interface VolatilePendingAction extends PendingActionBase {
  /** Does what the preview announced. */
  apply(reason: string, resolution: Resolution): Awaitable<AgentToolResult<unknown>>;
  /**
   * Called when the action is discarded; without a result the host says
   * `Discarded: <label>. Reason: <reason>`.
   */
  reject?(reason: string, resolution: Resolution): Awaitable<AgentToolResult<unknown> | undefined | void>;
  state?: undefined;
}

/**
 * An action that outlives the instance, the process and the machine: the tool's own `apply` and
 * `reject` get `state` back.
 */
export interface DurablePendingAction<TState = unknown> extends PendingActionBase {
  /** A JSON value, or a `Uint8Array`. */
  state: TState;
  apply?: undefined;
  reject?: undefined;
}

export type CustomToolPendingAction<TState = unknown> = VolatilePendingAction | DurablePendingAction<TState>;

/** The conversation that a call belongs to. */
export interface Session {
  /** The same for every call of one conversation. */
  readonly id: string;
  /** Where the workspace is (`/workspace`), where there is one. */
  readonly workspace: string | undefined;
  /** Whether `pushPendingAction` has somewhere to put an action. */
  readonly hasPendingStore: boolean;
}

/** Writes to the host's log. */
export interface Logger {
  trace(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}

interface Surroundings<TState> {
  /** The workspace's path, to which relative paths are relative. */
  readonly cwd: string;
  /** The current session; none where the host only asks for the definitions. */
  readonly session: Session | undefined;
  /** There is never one in a sandbox. */
  readonly hasUI: false;
  /**
   * Asks for a decision before anything happens.
   * @returns the action's id
   * @throws {PushError} where the host doesn't take it
   */
  pushPendingAction(action: CustomToolPendingAction<TState>): string;
  /**
   * Tells whoever waits how far the current call is; `progress` and `total` count in a unit of the
   * tool's own.
   */
  reportProgress(message: string, progress?: number, total?: number): void;
}

/** What a factory gets. */
export interface CustomToolAPI extends Surroundings<unknown> {
  /** TypeBox, to write schemas with. */
  readonly typebox: typeof typebox;
  /** The package `zod` (4.2 or later), if the project has installed it. */
  readonly zod: typeof zod;
  /** `type` of the package `arktype` (2.1.28 or later), if the project has installed it. */
  readonly arktype: typeof arktype;
  readonly logger: Logger;
  /** Always fails: a sandbox has no commands. */
  exec(command: string, args?: string[]): Promise<never>;
}

/** What `execute` gets beside its params. */
export interface CustomToolContext<TState = unknown> extends Surroundings<TState> {
  readonly toolName: string;
}

/** Hints about a tool's behaviour. The sandbox doesn't rely on them. */
export interface ToolTraits {
  /** Left out of listings; it can still be called by name. */
  hidden?: boolean;
  /** It may push pending actions instead of acting at once. Holds unless `readOnly` does. */
  deferrable?: boolean;
  /** It never changes anything, and so never pushes an action. */
  readOnly?: boolean;
  /** What its actions do can't be undone by calling it again. */
  destructive?: boolean;
  /** Applying the same action twice has the effect of applying it once. */
  idempotent?: boolean;
  /** It reaches beyond the workspace. */
  openWorld?: boolean;
}

/** A tool. */
export interface CustomTool<TParams extends Schema = Schema, TDetails = unknown, TState = any> extends ToolTraits {
  /** Unique in a session: 1 to 64 of the characters `A-Z a-z 0-9 _ . -`. */
  name: string;
  /** What a person reads in a list; one line. */
  label: string;
  /** What the model reads to decide whether to call the tool. */
  description: string;
  /**
   * The schema of the params: TypeBox, zod, JSON Schema, or any other that implements Standard JSON
   * Schema.
   */
  parameters: TParams;
  /** The schema of the result's `details`, where the tool promises one. */
  output?: Schema;
  /**
   * Makes the preview, or answers. The workspace is read-only meanwhile.
   * @param params checked by the host against `parameters`
   * @param signal aborted when nobody wants the answer any more
   */
  execute(
    toolCallId: string,
    params: SchemaStatic<TParams>,
    onUpdate: AgentToolUpdateCallback,
    ctx: CustomToolContext<TState>,
    signal: AbortSignal,
  ): Awaitable<AgentToolResult<TDetails>>;
  /** Applies a durable action, in this instance or another. */
  apply?(state: TState, reason: string, resolution: Resolution): Awaitable<AgentToolResult<unknown>>;
  /** Cleans up after a durable action that was discarded. */
  reject?(state: TState, reason: string, resolution: Resolution): Awaitable<AgentToolResult<unknown> | undefined | void>;
}

/** Makes one tool or several. It runs once in each instance, at the first call. */
export type CustomToolFactory = (pi: CustomToolAPI) => Awaitable<CustomTool<any, any> | CustomTool<any, any>[]>;

/**
 * A tool whose params have the type that its schema says, and whose actions that of its `apply`.
 */
export function defineTool<TParams extends Schema, TDetails = unknown, TState = never>(
  tool: CustomTool<TParams, TDetails, TState>,
): CustomTool<TParams, TDetails, TState> {
  return tool;
}
