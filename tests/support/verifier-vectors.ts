import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A request with the answer that every verifier has to give. */
export interface VerifierVector {
  readonly name: string;
  readonly secret: string;
  readonly body_base64: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: number;
  readonly tolerance_seconds?: number;
  readonly accepted: boolean;
  readonly reason?: string;
}

/** Where the verifiers in one file stand. */
export const verifierFolder = fileURLToPath(new URL('../../docs/webhook-verifier/', import.meta.url));

export const { vectors: verifierVectors } = JSON.parse(
  readFileSync(`${verifierFolder}test-vectors.json`, 'utf8'),
) as { vectors: readonly VerifierVector[] };
