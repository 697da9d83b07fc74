import { describe, expect, test } from '@jest/globals';
import { TextParts } from '../../../../infrastructure/http/bodies/form-stream.ts';

const header = (disposition: string): string => `--b\r\nContent-Disposition: form-data; ${disposition}\r\n`;
const read = (form: string, pieceBytes: number, type = 'multipart/form-data; boundary=b') => {
  const texts = new TextParts(type);
  const bytes = Buffer.from(form);
  const names: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    names.push(...texts.beginIn(bytes.subarray(at, at + pieceBytes)));
  return { names, parts: texts.parts };
};
const seen = (...asked: Parameters<typeof read>): string[] => read(...asked).names;

describe('the names of text parts', () => {
  const form = `${header('name="é"')}\r\n{}\r\n${header('name="files"; filename="x"')}\r\n%PDF\r\n${header('name="b"')}`;

  test.each([1, 7, 100, 1_000])('are seen as soon as they have come, in pieces of %s bytes', (bytes) => {
    expect(seen(form, bytes)).toEqual(['é', 'b']);
  });

  test.each([
    ['of a file', header('name="a"; filename="b"')],
    ['inside of a line', `x${header('name="a"')}`],
    ['of another boundary', header('name="a"').replace('--b', '--c')],
    ['without its end', header('name="a').slice(0, -2)],
    ['of more than 255 bytes', header(`name="${'a'.repeat(256)}"`)],
  ])('are not taken from what stands there %s', (_what, text) => {
    for (const bytes of [1, 1_000]) expect(seen(text, bytes)).toEqual([]);
  });

  test.each([1, 1_000])('are seen where no file was chosen, in pieces of %s bytes', (bytes) => {
    expect(seen(header('name="files"; filename=""'), bytes)).toEqual(['files']);
  });

  test('are not looked for without a boundary', () => {
    expect(seen(form, 1_000, 'multipart/form-data')).toEqual([]);
  });
});

test.each([1, 7, 100, 1_000])('parts of any kind are counted, in pieces of %s bytes', (bytes) => {
  const form = `${header('name="a"')}\r\n{}\r\n${header('name="files"; filename="x"')}\r\n--b--b\r\n--b\r\n\r\nx\r\n--b--\r\n`;
  expect(read(form, bytes)).toEqual({ names: ['a'], parts: 3 });
});
