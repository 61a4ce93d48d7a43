import { getRandomBytes } from "wasi:random/random@0.2.12";

import { isStarted, requireStarted } from "../guest/lifecycle.js";

/** As much as the specification lets a caller ask for at once. */
const MAX_BYTES = 65_536;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export const crypto = {
  getRandomValues<T extends ArrayBufferView>(array: T): T {
    requireStarted("crypto.getRandomValues");
    if (!ArrayBuffer.isView(array) || array instanceof DataView || array instanceof Float32Array || array instanceof Float64Array) {
      throw new DOMException("an array of integers is needed", "TypeMismatchError");
    }
    if (array.byteLength > MAX_BYTES) throw new DOMException(`at most ${MAX_BYTES} bytes at a time`, "QuotaExceededError");
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(randomBytes(array.byteLength));
    return array;
  },

  randomUUID(): string {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => HEX[byte]);
    return [hex.slice(0, 4), hex.slice(4, 6), hex.slice(6, 8), hex.slice(8, 10), hex.slice(10)].map((part) => part.join("")).join("-");
  },
};

/**
 * QuickJS keeps its generator in the component's snapshot, so that all instances would get the same
 * numbers.
 */
export function randomFrom(builtIn: () => number): () => number {
  let pool = new Uint32Array(0);
  let next = 0;
  return () => {
    if (!isStarted()) return builtIn();
    if (next + 2 > pool.length) {
      pool = new Uint32Array(randomBytes(1024).slice().buffer);
      next = 0;
    }
    const high = (pool[next++] ?? 0) >>> 5;
    const low = (pool[next++] ?? 0) >>> 6;
    return (high * 2 ** 26 + low) / 2 ** 53;
  };
}

function randomBytes(count: number): Uint8Array {
  return getRandomBytes(count as unknown as bigint);
}
