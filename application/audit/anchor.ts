import { createHash } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';

/** Where a stream ended when somebody wrote it down. */
export interface Head {
  readonly stream: string;
  readonly revision: number;
  readonly hash: string;
}

const FORMAT = 'receivables-audit-anchor/1';

/** The heads of all streams as lines of JSON: a title, one line a stream, and a digest over all of them. */
export function* anchorLines(takenAt: string, heads: Iterable<Head>): Generator<string> {
  const digest = createHash('sha256');
  const title = `${JSON.stringify({ format: FORMAT, taken_at: takenAt })}\n`;
  digest.update(title);
  yield title;
  for (const { stream, revision, hash } of heads) {
    const line = `${JSON.stringify({ stream, revision, hash })}\n`;
    digest.update(line);
    yield line;
  }
  yield `${JSON.stringify({ sha256: digest.digest('hex') })}\n`;
}

const damaged = (number: number): DomainError =>
  new DomainError('validation_error', `line ${number} of the anchor is not what was written there`);

const headOf = (text: string, number: number): Head => {
  try {
    const { stream, revision, hash } = JSON.parse(text) as Partial<Head>;
    if (typeof stream === 'string' && typeof revision === 'number' && typeof hash === 'string')
      return { stream, revision, hash };
  } catch {
    // Falls through to the refusal, which names the line.
  }
  throw damaged(number);
};

/**
 * Heads by stream, from the lines of an anchor.
 * @throws DomainError `validation_error` for a file that is cut off, changed, or no anchor at all
 */
export const readAnchor = async (lines: AsyncIterable<string>): Promise<ReadonlyMap<string, Head>> => {
  const digest = createHash('sha256');
  const heads = new Map<string, Head>();
  let number = 0;
  let last: string | undefined;
  for await (const line of lines) {
    number += 1;
    if (number === 1 && !line.includes(FORMAT)) throw damaged(1);
    if (last !== undefined) {
      digest.update(`${last}\n`);
      if (number > 2) {
        const head = headOf(last, number - 1);
        heads.set(head.stream, head);
      }
    }
    last = line;
  }
  if (last !== JSON.stringify({ sha256: digest.digest('hex') })) throw damaged(Math.max(number, 1));
  return heads;
};
