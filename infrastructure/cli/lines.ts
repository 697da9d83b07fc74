import { WrongUseError } from './command-line.ts';

export interface Line {
  /** 1-based. */
  readonly number: number;
  readonly text: string;
}

const LONGEST_LINE = 1_048_576;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The lines of a text as it arrives, blank ones left out: each batch holds what one piece of the input completed, so that a
 * pipe is answered at once. @throws WrongUseError for a line beyond 1 MiB, which would only fill the memory
 */
export async function* lineBatches(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  let number = 0;
  const take = (texts: readonly string[]): readonly Line[] =>
    texts
      .map((text) => ({ number: ++number, text: text.replace(number === 1 ? BYTE_ORDER_MARK : '', '') }))
      .filter(({ text }) => text.trim() !== '');
  for await (const piece of input) {
    const texts = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = texts.pop() ?? '';
    const batch = take(texts);
    if (batch.length > 0) yield batch;
    if (rest.length > LONGEST_LINE) throw new WrongUseError(`line ${number + 1} is longer than 1 MiB`);
  }
  const batch = take([rest + decoder.decode()]);
  if (batch.length > 0) yield batch;
}
