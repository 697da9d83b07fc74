import type { Request, RequestHandler } from 'express';
import multer, { MulterError } from 'multer';
import { either, inLanguages } from './language.ts';
import { ConsoleProblem } from './page.ts';
import type { Visit } from './page.ts';

const texts = inLanguages({
  noFile: [
    'Nenhum arquivo chegou. Escolha um arquivo e envie de novo.',
    'No file arrived. Choose a file and send it again.',
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

/** What {@link receiveFile} read. */
export const receivedForm = ({ body, files }: Request): Pick<Visit, 'fields' | 'file'> => {
  const fields = Object.entries(body as Record<string, unknown>).map(([name, value]) => [
    name,
    String(value),
  ]);
  const [file] = files as readonly Express.Multer.File[];
  return {
    fields: new URLSearchParams(Object.fromEntries(fields) as Record<string, string>),
    ...(file && { file: { name: file.originalname.slice(-LONGEST_NAME), bytes: file.buffer } }),
  };
};

/** @throws ConsoleProblem when none was chosen */
export const fileOf = ({ file }: Visit): NonNullable<Visit['file']> => {
  if (file === undefined) throw new ConsoleProblem(400, () => texts.noFile);
  return file;
};
