import { createHash } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { StreamHead } from './audit-notes.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { SealPlace } from './seals/check-seals.ts';
import { telling } from './difference.ts';
import type { Report } from './difference.ts';
import type { AuditedStreams } from './log-walk.ts';

export interface AnchorSignature {
  /** base64url of its SPKI form. */
  readonly publicKey: string;
  /** base64url. */
  readonly signature: string;
}

/** Signs what is kept elsewhere, so that it can be told later that this service wrote it. */
export interface AnchorSigner {
  sign(text: string): Promise<AnchorSignature>;
  isGenuine(text: string, signature: AnchorSignature): Promise<boolean>;
}

export interface Anchor {
  readonly takenAt: string;
  readonly seal: SealPlace | undefined;
  /** Anchors of the first versions are not signed. */
  readonly signed: boolean;
}

const FORMAT = 'receivables-audit-anchor/2';
const UNSIGNED_FORMAT = 'receivables-audit-anchor/1';

interface AnchorContents {
  readonly takenAt: string;
  readonly seal: SealPlace | undefined;
  readonly heads: Iterable<StreamHead>;
}

export async function* anchorLines(contents: AnchorContents, signer: AnchorSigner): AsyncGenerator<string> {
  const { takenAt, seal, heads } = contents;
  const digest = createHash('sha256');
  const place = seal ? { number: seal.number, mac: seal.mac } : null;
  const title = `${JSON.stringify({ format: FORMAT, taken_at: takenAt, seal: place })}\n`;
  digest.update(title);
  yield title;
  for (const { stream, revision, hash } of heads) {
    const line = `${JSON.stringify({ stream, revision, hash })}\n`;
    digest.update(line);
    yield line;
  }
  const sha256 = digest.digest('hex');
  const { publicKey, signature } = await signer.sign(`${FORMAT} ${sha256}`);
  yield `${JSON.stringify({ sha256, public_key: publicKey, signature })}\n`;
}

const refused = (message: string): DomainError => new DomainError('validation_error', message);
const damaged = (number: number): DomainError =>
  refused(`line ${number} of the anchor is not what was written there`);

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (text: string, number: number): Fields => {
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields === 'object' && fields !== null) return fields as Fields;
  } catch {
    // Falls through to the refusal, which names the line.
  }
  throw damaged(number);
};

const headOf = (text: string, number: number): StreamHead => {
  const { stream, revision, hash } = fieldsOf(text, number);
  if (typeof stream === 'string' && typeof revision === 'number' && typeof hash === 'string')
    return { stream, revision, hash };
  throw damaged(number);
};

const sealOf = (seal: unknown): SealPlace | undefined => {
  if (seal === null || seal === undefined) return undefined;
  const { number, mac } = seal as Partial<SealPlace>;
  if (typeof number === 'number' && typeof mac === 'string') return { number, mac };
  throw damaged(1);
};

const signatureOf = ({ public_key: publicKey, signature }: Fields): AnchorSignature | undefined =>
  typeof publicKey === 'string' && typeof signature === 'string' ? { publicKey, signature } : undefined;

/** @param keep gets each head; none counts before the answer @throws DomainError `validation_error`: cut off or foreign */
export const readAnchor = async (
  lines: AsyncIterable<string>,
  signer: AnchorSigner,
  keep: (head: StreamHead) => void,
): Promise<Anchor> => {
  const digest = createHash('sha256');
  let [number, title, last]: [number, Fields, string | undefined] = [0, {}, undefined];
  for await (const line of lines) {
    number += 1;
    if (number === 1) title = fieldsOf(line, 1);
    if (last !== undefined) {
      digest.update(`${last}\n`);
      if (number > 2) keep(headOf(last, number - 1));
    }
    last = line;
  }
  const { format, taken_at: takenAt, seal } = title;
  if (format !== FORMAT && format !== UNSIGNED_FORMAT) throw damaged(1);
  const end = fieldsOf(last ?? '', Math.max(number, 1));
  const sha256 = digest.digest('hex');
  if (number < 2 || end['sha256'] !== sha256) throw damaged(Math.max(number, 1));
  const signed = format === FORMAT;
  if (signed) {
    const signature = signatureOf(end);
    if (!signature || !(await signer.isGenuine(`${FORMAT} ${sha256}`, signature)))
      throw refused(
        'the anchor was not signed by this service, or by a later state of it whose signing key a restored backup lacks: take a new one',
      );
  }
  return { takenAt: String(takenAt), seal: sealOf(seal), signed };
};

/** The event that was the stream's last one then must still be the same: a chain that was written anew ends in another hash. */
export const checkAnchor = (
  head: StreamHead | undefined,
  events: readonly RecordedEvent[],
  report: Report,
): void => {
  if (!head) return;
  const found = events[head.revision]?.metadata.hash ?? '(no such event)';
  if (found !== head.hash) telling(report, 'anchor', head)('hash', head.hash, found);
};

export const checkVanished = (
  heads: Iterable<StreamHead>,
  streams: Pick<AuditedStreams, 'has'>,
  report: Report,
): void => {
  for (const head of heads)
    if (!streams.has(head.stream)) telling(report, 'anchor', head)('hash', head.hash, '(no such stream)');
};
