import type { Request, RequestHandler } from 'express';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { either, inLanguages } from './language.ts';
import { ConsoleProblem, textFile } from './page.ts';
import type { Visit, Answer } from './page.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import { PDF, disposition } from '../support/stored-files.ts';
import { CSV_DIALECTS } from '../presenting/csv.ts';
import type { CsvDialect } from '../presenting/csv.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { tokenField } from './forms.ts';
import type { Desk } from '../../application/desk-view/desk.ts';
import { count } from './format.ts';
import type { Rows } from '../presenting/columns.ts';

import multer, { MulterError } from 'multer';

const texts = inLanguages({
  noFile: [
    'Nenhum arquivo chegou. Escolha um arquivo e envie de novo.',
    'No file arrived. Choose a file and send it again.',
  ],
  noMore: [
    'A sessão terminou, ou os papéis mudaram, antes do fim do arquivo. Entre de novo e peça-o outra vez.',
    'The session ended, or its roles changed, before the end of the file. Come in again and ask for it once more.',
  ],
  brazilian: ['CSV para o Excel em português', 'CSV for Excel in Portuguese'],
  brazilianHelp: [
    'Ponto e vírgula entre as colunas, vírgula decimal e situações em português. Vale para todos os arquivos e fica guardado neste navegador.',
    'Semicolons between columns, a decimal comma, and states in Portuguese. Counts for every file, and this browser keeps it.',
  ],
  leftOut: (operations: string, codes: string) => [
    `Nem tudo está aqui: ${operations} em quarentena, como eram antes de um evento que não pôde ser lido (${codes}). Quem opera o serviço vê o motivo com receivables quarantine list.`,
    `Not all is in it: ${operations} in quarantine, as they were before an event that could not be read (${codes}). Who operates the service sees why with receivables quarantine list.`,
  ],
});

const MOST_FIELDS = 20;
const LONGEST_FIELD = 1_000;
const LONGEST_NAME = 100;
const MEGABYTE = 1_048_576;

const tooLarge = (most: number) => (): string =>
  either(
    `O arquivo tem mais de ${most / MEGABYTE} MiB. Divida-o, ou use a linha de comando, que lê arquivos de qualquer tamanho.`,
    `The file is larger than ${most / MEGABYTE} MiB. Divide it, or use the command line, which reads files of any size.`,
  );

/** Reads a form with at most one file, of at most so many bytes, which stays in memory. */
export const receiveFile = (most: number): RequestHandler => {
  const limits = { files: 1, fileSize: most, fields: MOST_FIELDS, fieldSize: LONGEST_FIELD };
  const receive = multer({
    storage: multer.memoryStorage(),
    defParamCharset: 'utf8',
    limits: { ...limits, fieldNestingDepth: 0 },
  }).any();
  return (req, res, next) => {
    if (!req.is('multipart/form-data')) throw new ConsoleProblem(400, () => texts.noFile);
    const done = (error?: unknown): void => {
      if (error === undefined) return next();
      const large = error instanceof MulterError && error.code === 'LIMIT_FILE_SIZE';
      next(large ? new ConsoleProblem(413, tooLarge(most)) : new ConsoleProblem(400, () => texts.noFile));
    };
    void receive(req, res, done);
  };
};

export const receivedForm = ({ body, files }: Request): Pick<Visit, 'fields' | 'file'> => {
  const fields = Object.entries(body as Record<string, unknown>).map(([name, value]) => [
    name,
    String(value),
  ]);
  const [file] = files as readonly Express.Multer.File[];
  return {
    fields: new URLSearchParams(Object.fromEntries(fields) as Record<string, string>),
    ...(file && { file: { name: [...file.originalname].slice(-LONGEST_NAME).join(''), bytes: file.buffer } }),
  };
};

/** @throws ConsoleProblem when none was chosen */
export const fileOf = ({ file }: Visit): NonNullable<Visit['file']> => {
  if (file === undefined) throw new ConsoleProblem(400, () => texts.noFile);
  return file;
};

/** Whatever a file holds, it runs nothing, reaches nothing and sends nothing. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
/** A browser's own reader of PDF is stopped by `sandbox`; it runs no script of a page either. */
const PDF_POLICY = `${POLICY}; object-src 'self'`;

const LOOK_EVERY_MS = 2_000;

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

export const dialectOf = (text: string | null | undefined): CsvDialect =>
  CSV_DIALECTS.find((one) => one === text) ?? 'plain';

export const csvFor = ({ csv: dialect }: Pick<Visit, 'csv'>) =>
  ({ format: 'csv', colour: false, dialect }) as const;

export const csvChoice = (visit: Pick<Visit, 'csv' | 'formToken'>): View => {
  const on = visit.csv === 'brazilian';
  return html`<form method="post" action="/session/csv" class="inline">
    ${tokenField(visit)}
    <button
      class="secondary small"
      name="csv"
      value=${on ? 'plain' : 'brazilian'}
      aria-pressed=${on ? 'true' : 'false'}
      title=${texts.brazilianHelp}
    >
      ${on ? '✓ ' : ''}${texts.brazilian}
    </button>
  </form>`;
};

const MOST_NAMED = 5;

type Loans = Pick<Desk, 'loans'>;

/** Default: of all funds that the person sees. */
const leftOutOf = async ({ loans }: Loans, funds?: readonly string[]) =>
  (await loans.leftOut()).filter(({ fundId }) => !funds || fundId === undefined || funds.includes(fundId));

/** What a list or a report of these funds has to say of itself. */
export const leftOutView = async (app: Loans, funds?: readonly string[]): Promise<View> => {
  const all = await leftOutOf(app, funds);
  if (all.length === 0) return null;
  const named = all.slice(0, MOST_NAMED).map(({ code }) => code);
  const codes = [...named, ...(all.length > named.length ? ['…'] : [])].join(', ');
  return html`<p class="problem" role="note">${texts.leftOut(count(all.length), codes)}</p>`;
};

/** The same of a file: its name says so, since a program that reads it takes every line of it for a row. */
export const reportFile = async (
  app: Loans,
  {
    name,
    rows,
    funds,
  }: { readonly name: string; readonly rows: Rows<string>; readonly funds?: readonly string[] },
): Promise<ReturnType<typeof textFile>> => {
  const { length } = await leftOutOf(app, funds);
  return textFile(length === 0 ? name : name.replace(/\.\w+$/, `-${length}-in-quarantine$&`), rows);
};
