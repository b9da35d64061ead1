/** What a body is, byte for byte, and who signed it. Canonical form: RFC 8785 (JCS). */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Refusal } from '../../config/contracts/errors.js';
import type { JsonObject } from './read-payload.js';

/** SHA-256 of the canonical form, hex. Throws `Refusal` MALFORMED for text that is not Unicode. */
export function digestOf(body: JsonObject): string {
  return createHash('sha256').update(canonicalForm(body)).digest('hex');
}

/** Throws `Refusal` POLICY_DENIED unless `sig` is an Ed25519 signature over the body without `sig`. */
export function requireSignature(body: JsonObject, key: KeyObject): void {
  const { sig, ...signed } = body;
  if (typeof sig !== 'string' || sig === '') {
    throw new Refusal('POLICY_DENIED', 'sig: found nothing; a signature is required here', 'sig');
  }
  const signature = /^[A-Za-z0-9_-]{86}$/.test(sig) ? Buffer.from(sig, 'base64url') : null;
  if (signature === null || !verify(null, Buffer.from(canonicalForm(signed)), key, signature)) {
    throw new Refusal('POLICY_DENIED', 'sig: the signature does not fit this body', 'sig');
  }
}

/** Reads the key of the one who may command: PEM (SPKI). Throws an Error that says what was found. */
export function readCommandKey(pem: string | Buffer): KeyObject {
  const key = publicKeyOf(pem);
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error(
      `command key: found ${key.asymmetricKeyType ?? 'no'} key; allowed is an Ed25519 public key (PEM)`,
    );
  }
  return key;
}

function publicKeyOf(pem: string | Buffer): KeyObject {
  try {
    return createPublicKey(pem);
  } catch {
    throw new Error('command key: found no key; allowed is an Ed25519 public key (PEM)');
  }
}

function canonicalForm(body: JsonObject): string {
  try {
    return canonicalize(body) ?? '';
  } catch (error) {
    const flaw = flawIn(body, '');
    if (flaw !== null) throw new Refusal('MALFORMED', `${flaw.field}: found ${flaw.found}`, flaw.field);
    throw new Refusal('MALFORMED', `the payload has no canonical form: ${String(error)}`);
  }
}

const TOO_LARGE = 'a number too large to read; allowed up to 1.79e308';
const NO_UNICODE = 'text that is not Unicode (half of a surrogate pair)';
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What JSON can hold and RFC 8785 cannot: a number like 1e999, read as infinite, and broken text. */
function flawIn(value: unknown, field: string): { field: string; found: string } | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : { field, found: TOO_LARGE };
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? { field, found: NO_UNICODE } : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    if (LONE_SURROGATE.test(key)) return { field, found: `a key of ${NO_UNICODE}` };
    const found = flawIn(item, field === '' ? key : `${field}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
