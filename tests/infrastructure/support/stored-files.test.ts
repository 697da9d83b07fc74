import { expect, test } from '@jest/globals';
import { DOCX, PDF, begun, shownName } from '../../../infrastructure/support/stored-files.ts';

test.each([
  ['%PDF-1.4\n<html>', PDF],
  ['PK\u0003\u0004...', DOCX],
  ['<html>%PDF-', 'application/octet-stream'],
  [' %PDF-', 'application/octet-stream'],
  ['%PDF', 'application/octet-stream'],
  ['PK', 'application/octet-stream'],
])('%j is %s, and all of it is read once', async (content, type) => {
  let done = 0;
  const file = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(content);
    yield Buffer.from('rest');
  };
  const { mediaType, pieces } = await begun(file(), () => (done += 1));
  const read = await Array.fromAsync(pieces, (piece) => Buffer.from(piece).toString());
  expect([mediaType, read, done]).toEqual([type, [content, 'rest'], 1]);
});

test('nothing is of no type', async () => {
  const nothing = async function* (): AsyncGenerator<Uint8Array> {};
  expect((await begun(nothing())).mediaType).toBe('application/octet-stream');
});

test.each([
  ['ccb.pdf', 'ccb.pdf'],
  ['Cédula nº 1.pdf', 'Cédula nº 1.pdf'],
  ['invoice-\u202efdp.exe', 'invoice-fdp.exe'],
  ['\u2066a\u2069\u200f\u061c\u0085\u009b[31m.pdf', 'a[31m.pdf'],
  ['\u202e \u200f', 'document'],
])('%j is shown as %j', (name, shown) => {
  expect(shownName(name)).toBe(shown);
});
