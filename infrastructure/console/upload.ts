import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import type { InLanguages } from './language.ts';
import { ConsoleProblem } from './page.ts';

export interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
  /** What else the form held. */
  readonly fields: ReadonlyMap<string, string>;
}

const MOST_FIELDS = 20;
const LONGEST_FIELD = 1_000;
const LONGEST_NAME = 100;
const MEGABYTE = 1_048_576;

const NO_FILE: InLanguages<string> = {
  'pt-BR': 'Nenhum arquivo chegou. Escolha um arquivo e envie de novo.',
  en: 'No file arrived. Choose a file and send it again.',
};
const tooLarge = (most: number): InLanguages<string> => ({
  'pt-BR': `O arquivo tem mais de ${most / MEGABYTE} MiB. Divida-o, ou use a linha de comando, que lê arquivos de qualquer tamanho.`,
  en: `The file is larger than ${most / MEGABYTE} MiB. Divide it, or use the command line, which reads files of any size.`,
});

/** A form with one file, which stays in memory. @throws ConsoleProblem without a file that is required, or for one of more bytes than this */
export const readUpload = async (
  request: IncomingMessage,
  most: number,
  file: 'required' | 'optional' = 'required',
): Promise<Upload> => {
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) throw new ConsoleProblem(400, NO_FILE);
  const fields = new Map<string, string>();
  const chunks: Buffer[] = [];
  let [name, cut]: [string | undefined, boolean] = [undefined, false];
  const reader = new Busboy({
    headers: { ...request.headers, 'content-type': type },
    limits: { files: 1, fileSize: most, fields: MOST_FIELDS, fieldSize: LONGEST_FIELD },
  });
  reader.on('field', (field: string, value: string) => void fields.set(field, value));
  reader.on('file', (_field: string, content: NodeJS.ReadableStream, given: string) => {
    name = given.slice(-LONGEST_NAME);
    content.on('data', (chunk: Buffer) => chunks.push(chunk));
    content.on('limit', () => {
      cut = true;
      chunks.length = 0;
    });
  });
  try {
    await pipeline(request, reader);
  } catch (error) {
    throw error instanceof ConsoleProblem ? error : new ConsoleProblem(400, NO_FILE);
  }
  if (cut) throw new ConsoleProblem(413, tooLarge(most));
  if (file === 'required' && (name === undefined || name === '')) throw new ConsoleProblem(400, NO_FILE);
  return { name: name ?? '', bytes: Buffer.concat(chunks), fields };
};
