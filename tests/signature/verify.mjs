// Verifies bundles with @sigstore/verify.
//
//   verify.mjs CASES
//
// CASES is a JSON file: a list of { bundle, root, contents, key? }, each the path of a file. Prints
// one line for each: `ok IDENTITY` or `refused REASON`.
//
// @sigstore/verify leaves it to its caller to compare the subject of a statement and its type, so
// this program compares the subject, and the caller of this program the type.
import { createHash, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const target = process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, "../../target");
const packages = createRequire(resolve(target, "signature/node/package.json"));
const { bundleFromJSON } = packages("@sigstore/bundle");
const { TrustedRoot } = createRequire(packages.resolve("@sigstore/verify"))("@sigstore/protobuf-specs");
const { toSignedEntity, toTrustMaterial, Verifier } = packages("@sigstore/verify");

for (const one of JSON.parse(readFileSync(process.argv[2]))) {
  try {
    console.log(`ok ${verify(one)}`);
  } catch (error) {
    console.log(`refused ${`${error.code ?? ""} ${error.message}`.trim().replaceAll("\n", " ")}`);
  }
}

function verify({ bundle: path, root, contents: contentsPath, key }) {
  const bundle = bundleFromJSON(JSON.parse(readFileSync(path)));
  const contents = readFileSync(contentsPath);
  const find = key
    ? () => ({ publicKey: createPublicKey(readFileSync(key)), validFor: () => true })
    : undefined;
  const trust = toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(readFileSync(root))), find);
  const byKey = bundle.verificationMaterial.content.$case === "publicKey";
  const thresholds = byKey ? { tlogThreshold: 0, timestampThreshold: 0, ctlogThreshold: 0 } : {};
  const message = bundle.content.$case === "messageSignature";
  const entity = toSignedEntity(bundle, message ? contents : undefined);
  const signer = new Verifier(trust, thresholds).verify(entity);
  if (!message) {
    const { subject } = JSON.parse(bundle.content.dsseEnvelope.payload);
    const digest = createHash("sha256").update(contents).digest("hex");
    if (!subject.some((one) => one.digest.sha256 === digest)) throw new Error("another subject");
  }
  const { subjectAlternativeName: identity, extensions } = signer.identity ?? {};
  return identity ? `${identity} (${extensions.issuer})` : "key";
}
