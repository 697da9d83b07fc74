import { createHash } from 'node:crypto';
import { smallPdf } from '../support/api-client.ts';
import type { Paper } from './model/book.ts';

/** A file that can be sent, and what the service will say of it. */
interface File {
  readonly content: Uint8Array;
  readonly sha256: string;
  readonly size: number;
}

const fileOf = (text: string): File => {
  const content = smallPdf(text);
  return { content, sha256: createHash('sha256').update(content).digest('hex'), size: content.byteLength };
};
const FILES: readonly File[] = ['One', 'Two', 'Three'].map(fileOf);

export type SentPaper = Omit<Paper, 'receivedAt'> & { readonly file: File };

export const paper = (type: string, value: string, file: number): SentPaper => {
  const content = FILES[file % FILES.length]!;
  return { type, value, sha256: content.sha256, size: content.size, file: content };
};

/** As the model knows them. */
export const known = (papers: readonly SentPaper[]): readonly Omit<Paper, 'receivedAt'>[] =>
  papers.map(({ file: _, ...rest }) => rest);

export const listed = (papers: readonly SentPaper[]): object[] =>
  papers.map(({ type, value }) => ({ type, value }));

export const uploads = (papers: readonly SentPaper[]) =>
  papers.map(({ value, file }) => ({ name: value, content: file.content }));
