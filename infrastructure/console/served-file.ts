import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { RealClock } from '../../application/ports/clock.ts';
import { PDF, disposition } from '../support/stored-files.ts';
import { inLanguages } from './language.ts';
import { ConsoleProblem } from './page.ts';
import type { Answer } from './page.ts';

const texts = inLanguages({
  noMore: [
    'A sessão terminou, ou os papéis mudaram, antes do fim do arquivo. Entre de novo e peça-o outra vez.',
    'The session ended, or its roles changed, before the end of the file. Come in again and ask for it once more.',
  ],
});

/** Whatever a file holds, it runs nothing, reaches nothing and sends nothing. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
/** A browser's own reader of PDF is stopped by `sandbox`; it runs no script of a page either. */
const PDF_POLICY = `${POLICY}; object-src 'self'`;

const LOOK_EVERY_MS = 2_000;

/** No further than whoever asked for it may have it. */
async function* whileAllowed(
  content: (Answer & { readonly kind: 'file' })['content'],
  clock: RealClock,
  goesOn: () => Promise<boolean>,
): AsyncGenerator<string | Uint8Array> {
  let looked = Date.parse(clock.realNow());
  for await (const piece of content) {
    const now = Date.parse(clock.realNow());
    if (Math.abs(now - looked) >= LOOK_EVERY_MS) {
      if (!(await goesOn())) throw new ConsoleProblem(401, () => texts.noMore);
      looked = now;
    }
    yield piece;
  }
}

/** The type is the one that the content has: nothing is derived from the name. */
export const sendFile = async (
  res: ServerResponse,
  { name, mediaType, inline = false, content }: Answer & { readonly kind: 'file' },
  clock: RealClock,
  goesOn: () => Promise<boolean>,
): Promise<void> => {
  const isPdf = mediaType === PDF;
  res.setHeader('Content-Security-Policy', isPdf ? PDF_POLICY : `${POLICY}; sandbox`);
  res.setHeader('Content-Disposition', disposition(isPdf && inline ? 'inline' : 'attachment', name));
  res.setHeader('Content-Type', mediaType);
  // So that what fails before the first piece is answered as a problem.
  await pipeline(whileAllowed(content, clock, goesOn), res);
};
