// Makes Sigstore bundles by a certificate authority, a certificate transparency log, a
// transparency log and a timestamp authority of @sigstore/mock. Their keys are kept in FOLDER, so
// that all bundles of a folder have one trust root.
//
//   make.mjs FOLDER root
//   make.mjs FOLDER keyless IDENTITY ISSUER sha256:HEX OUT [OPTION..]
//   make.mjs FOLDER key NAME sha256:HEX OUT [OPTION..]
//
// `root` writes FOLDER/trusted_root.json, and is part of the others. `key` writes FOLDER/NAME.pub,
// and adds a log entry only with `--log`.
//
//   --message          sign the digest itself; by default, a statement by cosign about it
//   --provenance       sign build provenance
//   --predicate TYPE   sign a statement of this type
//   --expired          sign an hour after the certificate was issued, which is valid 10 minutes
//   --rekor2           an entry of version 2 of the log, and a timestamp
//   --timestamp        a timestamp too
//   --algorithm NAME   for `key`: p256 (the default), p384, ed25519 or rsa; those only sign statements
//   --log              for `key`: an entry in the transparency log
//   --bundle 0.1|0.2   an older version of the bundle
//
// Everything was signed two hours ago, so each certificate has expired since.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

// tests/signature/install has installed the packages.
const target = process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, "../../target");
const packages = createRequire(resolve(target, "signature/node/package.json"));
const inner = createRequire(packages.resolve("@sigstore/mock"));
const { initializeCA, initializeCTLog, initializeTLog, initializeTSA } = packages("@sigstore/mock");
const pkijs = inner("pkijs");

const MINUTE = 60_000;
// Timestamps have whole seconds, as those of Sigstore's authority.
const now = Math.floor(Date.now() / 1000) * 1000;
const issued = new Date(now - 120 * MINUTE);

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    message: { type: "boolean" },
    provenance: { type: "boolean" },
    predicate: { type: "string" },
    expired: { type: "boolean" },
    rekor2: { type: "boolean" },
    timestamp: { type: "boolean" },
    algorithm: { type: "string", default: "p256" },
    log: { type: "boolean" },
    bundle: { type: "string", default: "0.3" },
  },
});
const [folder, command, ...rest] = positionals;
const signed = new Date(options.expired ? now - 60 * MINUTE : issued.getTime() + MINUTE);

mkdirSync(folder, { recursive: true });
const instance = await initialize();
if (command === "keyless" && rest.length === 4) {
  await keyless(...rest);
} else if (command === "key" && rest.length === 3) {
  await byKey(...rest);
} else if (command !== "root" || rest.length > 0) {
  console.error("usage: make.mjs FOLDER root | keyless IDENTITY ISSUER DIGEST OUT | key NAME DIGEST OUT");
  process.exit(2);
}

// Makes or loads the authorities and logs, and writes the trust root.
async function initialize() {
  const keys = {};
  for (const name of ["fulcio", "ctlog", "rekor", "tsa"]) keys[name] = keyPair(name);
  const ctlog = await initializeCTLog(keys.ctlog, issued);
  const [ca, tsa] = await longAgo(async () => [
    await initializeCA(keys.fulcio, ctlog, issued),
    await initializeTSA(keys.tsa, signed),
  ]);
  const rekor = await initializeTLog("https://rekor.example.com", keys.rekor, signed);
  // Certificates have random parts: those of the first call are kept.
  ca.root = { rawData: kept("fulcio.der", ca.rootCertificate) };
  tsa.rootCert = pkijs.Certificate.fromBER(kept("tsa-root.der", tsa.rootCertificate));
  tsa.intCert = pkijs.Certificate.fromBER(kept("tsa.der", tsa.intCertificate));

  const start = new Date(now - 24 * 60 * MINUTE * 30).toISOString();
  const log = (publicKey, name) => ({
    baseUrl: `https://${name}.example.com`,
    hashAlgorithm: "SHA2_256",
    publicKey: {
      rawBytes: base64(publicKey),
      keyDetails: "PKIX_ECDSA_P256_SHA_256",
      validFor: { start },
    },
    logId: { keyId: base64(sha256(publicKey)) },
  });
  const authority = (name, certificates) => ({
    subject: { organization: "example.com", commonName: name },
    uri: `https://${name}.example.com`,
    certChain: { certificates: certificates.map((bytes) => ({ rawBytes: base64(bytes) })) },
    validFor: { start },
  });
  const root = {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs: [log(rekor.publicKey, "rekor")],
    certificateAuthorities: [authority("fulcio", [ca.rootCertificate])],
    ctlogs: [log(ctlog.publicKey, "ctlog")],
    timestampAuthorities: [authority("tsa", [tsa.intCertificate, tsa.rootCertificate])],
  };
  kept("trusted_root.json", JSON.stringify(root, null, 2));
  return { ca, rekor, tsa };
}

async function keyless(identity, issuer, digest, out) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = await instance.ca.issueCertificate({
    publicKey: publicKey.export({ format: "der", type: "spki" }),
    subjectAltName: identity,
    extensions: [
      { oid: "1.3.6.1.4.1.57264.1.1", value: issuer, legacy: true },
      { oid: "1.3.6.1.4.1.57264.1.8", value: issuer },
    ],
  });
  const one = { rawBytes: base64(certificate) };
  const material =
    options.bundle === "0.3" ? { certificate: one } : { x509CertificateChain: { certificates: [one] } };
  const verifier = { pem: pem("CERTIFICATE", certificate), x509Certificate: one };
  await write(out, material, digest, privateKey, verifier, true);
}

async function byKey(name, digest, out) {
  const { privateKey, publicKey } = keyPair(name, options.algorithm);
  const der = publicKey.export({ format: "der", type: "spki" });
  kept(`${name}.pub`, publicKey.export({ format: "pem", type: "spki" }));
  const verifier = { pem: pem("PUBLIC KEY", der), publicKey: { rawBytes: base64(der) } };
  const material = { publicKey: { hint: base64(sha256(der)) } };
  await write(out, material, digest, privateKey, verifier, options.log);
}

// Signs, logs and writes the bundle.
async function write(out, material, digest, privateKey, verifier, logged) {
  const hash = Buffer.from(digest.replace("sha256:", ""), "hex");
  const [content, signature, entry] = options.message
    ? signMessage(hash, privateKey, verifier)
    : signStatement(hash, privateKey, verifier);
  const verificationMaterial = { ...material, tlogEntries: [] };
  if (logged) verificationMaterial.tlogEntries.push(await logEntry(entry));
  if (options.rekor2 || options.timestamp) {
    verificationMaterial.timestampVerificationData = {
      rfc3161Timestamps: [{ signedTimestamp: base64(await timestamp(signature)) }],
    };
  }
  const version = options.bundle === "0.3" ? ".v0.3+json" : `+json;version=${options.bundle}`;
  const mediaType = `application/vnd.dev.sigstore.bundle${version}`;
  const bundle = { mediaType, verificationMaterial, ...content };
  writeFileSync(out, JSON.stringify(bundle, null, 2));
}

function signMessage(hash, privateKey, verifier) {
  const signature = signHash(hash, privateKey);
  const content = {
    messageSignature: {
      messageDigest: { algorithm: "SHA2_256", digest: base64(hash) },
      signature: base64(signature),
    },
  };
  const entry = options.rekor2
    ? hashedRekord2(hash, signature, verifier)
    : {
        apiVersion: "0.0.1",
        kind: "hashedrekord",
        spec: {
          data: { hash: { algorithm: "sha256", value: hash.toString("hex") } },
          signature: {
            content: base64(signature),
            publicKey: { content: base64(Buffer.from(verifier.pem)) },
          },
        },
      };
  return [content, signature, entry];
}

function signStatement(digest, privateKey, verifier) {
  const provenance = options.provenance && "https://slsa.dev/provenance/v1";
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "component.wasm", digest: { sha256: digest.toString("hex") } }],
    predicateType: options.predicate ?? (provenance || "https://sigstore.dev/cosign/sign/v1"),
    predicate: {},
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const payloadType = "application/vnd.in-toto+json";
  const encoded = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
  const hash = { p384: "sha384", ed25519: null }[options.algorithm];
  const signature = sign(hash === undefined ? "sha256" : hash, encoded, privateKey);
  const envelope = {
    payload: base64(payload),
    payloadType,
    signatures: [{ sig: base64(signature) }],
  };
  const entry = options.rekor2
    ? hashedRekord2(sha256(encoded), signature, verifier)
    : {
        apiVersion: "0.0.1",
        kind: "dsse",
        spec: {
          envelopeHash: {
            algorithm: "sha256",
            value: sha256(Buffer.from(JSON.stringify(envelope))).toString("hex"),
          },
          payloadHash: { algorithm: "sha256", value: sha256(payload).toString("hex") },
          signatures: [
            { signature: base64(signature), verifier: base64(Buffer.from(verifier.pem)) },
          ],
        },
      };
  return [{ dsseEnvelope: envelope }, signature, entry];
}

function hashedRekord2(hash, signature, { x509Certificate, publicKey }) {
  const one = x509Certificate ? { x509Certificate } : { publicKey };
  return {
    apiVersion: "0.0.2",
    kind: "hashedrekord",
    spec: {
      hashedRekordV002: {
        data: { algorithm: "SHA2_256", digest: base64(hash) },
        signature: {
          content: base64(signature),
          verifier: { ...one, keyDetails: "PKIX_ECDSA_P256_SHA_256" },
        },
      },
    },
  };
}

async function logEntry(body) {
  const [entry] = Object.values(await instance.rekor.log(body));
  const { inclusionProof: proof, signedEntryTimestamp } = entry.verification;
  const inclusionProof = {
    logIndex: String(proof.logIndex),
    rootHash: base64(Buffer.from(proof.rootHash, "hex")),
    treeSize: String(proof.treeSize),
    hashes: [],
    checkpoint: { envelope: proof.checkpoint },
  };
  const common = {
    logId: { keyId: base64(Buffer.from(entry.logID, "hex")) },
    kindVersion: { kind: body.kind, version: body.apiVersion },
    inclusionProof,
    canonicalizedBody: entry.body,
  };
  if (options.rekor2) return { logIndex: String(proof.logIndex), ...common };
  return {
    logIndex: String(entry.logIndex),
    integratedTime: String(entry.integratedTime),
    inclusionPromise: { signedEntryTimestamp },
    ...common,
  };
}

async function timestamp(signature) {
  return await instance.tsa.timestamp({
    artifactHash: sha256(signature),
    hashAlgorithmOID: "2.16.840.1.101.3.4.2.1",
    nonce: 1,
    policyOID: "1.3.6.1.4.1.57264.2",
    certReq: true,
  });
}

// An ECDSA signature on P-256 of a hash, which node can't make: it hashes what it signs.
function signHash(hash, privateKey) {
  const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
  const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const base = [
    0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  ];
  const mod = (a, m) => ((a % m) + m) % m;
  const inverse = (a, m) => {
    let [x, y, u, v] = [mod(a, m), m, 1n, 0n];
    while (x > 1n) {
      const q = y / x;
      [x, y, u, v] = [y - q * x, x, v - q * u, u];
    }
    return mod(u, m);
  };
  const add = (a, b) => {
    if (!a || !b) return a ?? b;
    const slope =
      a[0] === b[0]
        ? mod((3n * a[0] * a[0] - 3n) * inverse(2n * a[1], p), p)
        : mod((b[1] - a[1]) * inverse(b[0] - a[0], p), p);
    const x = mod(slope * slope - a[0] - b[0], p);
    return [x, mod(slope * (a[0] - x) - a[1], p)];
  };
  const number = (bytes) => BigInt(`0x${bytes.toString("hex")}`);
  const secret = number(Buffer.from(privateKey.export({ format: "jwk" }).d, "base64url"));
  const k = mod(number(randomBytes(40)), n - 1n) + 1n;
  let point;
  for (const bit of k.toString(2)) {
    point = point && add(point, point);
    if (bit === "1") point = add(point, base);
  }
  const r = mod(point[0], n);
  const s = mod(inverse(k, n) * (number(hash) + r * secret), n);
  const integer = (value) => {
    let hex = value.toString(16);
    if (hex.length % 2) hex = `0${hex}`;
    if (hex[0] >= "8") hex = `00${hex}`;
    return Buffer.concat([Buffer.from([2, hex.length / 2]), Buffer.from(hex, "hex")]);
  };
  const both = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.from([0x30, both.length]), both]);
}

// Loads or makes a key.
function keyPair(name, algorithm = "p256") {
  const [kind, parameters] = {
    p256: ["ec", { namedCurve: "prime256v1" }],
    p384: ["ec", { namedCurve: "secp384r1" }],
    ed25519: ["ed25519", {}],
    rsa: ["rsa", { modulusLength: 2048 }],
  }[algorithm];
  const { privateKey } = generateKeyPairSync(kind, parameters);
  const text = kept(`${name}.key`, privateKey.export({ format: "pem", type: "pkcs8" }));
  const loaded = createPrivateKey(text);
  return { privateKey: loaded, publicKey: createPublicKey(loaded) };
}

// Returns the contents of a file, which is made first if it is missing.
function kept(name, contents) {
  const path = join(folder, name);
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, contents);
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path);
}

// Runs with a clock that is a day slow: the authorities' certificates begin now.
async function longAgo(run) {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) {
      super(...(given.length ? given : [Real.now() - 24 * 60 * MINUTE]));
    }
    static now() {
      return Real.now() - 24 * 60 * MINUTE;
    }
  };
  try {
    return await run();
  } finally {
    globalThis.Date = Real;
  }
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest();
}

function base64(bytes) {
  return Buffer.from(bytes).toString("base64");
}

function pem(label, der) {
  const lines = base64(der).match(/.{1,64}/g).join("\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
