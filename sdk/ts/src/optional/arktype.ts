// Arktype names classes of the web at the top of a module, to describe values of them. A tool has
// no such values, and its engine not all of the classes: an empty class takes the place of each.
const NAMES = ["Blob", "File", "FormData", "Headers", "Request", "Response", "URL"];

for (const name of NAMES) {
  if (name in globalThis) continue;
  const value = { [name]: class {} }[name];
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
