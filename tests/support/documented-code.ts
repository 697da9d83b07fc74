import { readFileSync } from 'node:fs';

const DOCS = new URL('../../docs/', import.meta.url);

/** The block of code that stands below `<!-- name -->` on a page of the documentation. @throws Error when there is none */
export const documentedCode = (page: string, name: string): string => {
  const text = readFileSync(new URL(page, DOCS), 'utf8');
  const [, after] = text.split(`<!-- ${name} -->`);
  const code = /^\s*```\w+\n([\s\S]*?)\n```/.exec(after ?? '')?.[1];
  if (code === undefined) throw new Error(`${page} has no code ${name}`);
  return `${code}\n`;
};

/** Lines that a reader has to own: without empty ones. */
export const linesOf = (code: string): number => code.split('\n').filter((line) => line.trim() !== '').length;
