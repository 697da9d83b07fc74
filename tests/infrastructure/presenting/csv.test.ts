import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { printedRows } from '../../../infrastructure/presenting/columns.ts';
import { CSV_DIALECTS, csvText } from '../../../infrastructure/presenting/csv.ts';
import { printedObject } from '../../../infrastructure/cli/shown-object.ts';

const CSV = { format: 'csv', colour: false } as const;

/** As spreadsheets do, by the list separator of their language: a quote counts at the beginning of a cell, and what follows its end does too. */
const parsed = (text: string, delimiter: string): readonly string[] => {
  const cells: string[] = [];
  let [cell, quoted, fresh] = ['', false, true];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (quoted && character === '"' && text[at + 1] === '"') cell += text.charAt(++at);
    else if (character === '"' && (quoted || fresh)) [quoted, fresh] = [!quoted, false];
    else if (!quoted && [delimiter, '\r', '\n'].includes(character)) {
      cells.push(cell);
      [cell, fresh] = ['', true];
    } else [cell, fresh] = [cell + character, false];
  }
  return [...cells, cell];
};
/** The same by a reader that knows no quotes at all. */
const split = (text: string, delimiter: string): readonly string[] =>
  text.split(/\r\n|\n|\r/).flatMap((line) => line.split(delimiter).map((cell) => cell.replace(/^[" ]+/, '')));

const FORMULA = /^[=+\-@\t\r]/;
const PLAIN_NUMBER = /^-?\d+([.,]\d+)?"*$/;
const formulas = (cells: readonly string[]): readonly string[] =>
  cells.filter((cell) => FORMULA.test(cell) && !PLAIN_NUMBER.test(cell));

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '\r\n', ';', ',', '"', "'", ' ', '1', 'x'),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const cell = fc.oneof(
  hostile,
  fc.integer(),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => JSON.rawJSON(value.toFixed(2))),
);

describe('a cell of CSV', () => {
  test.each(CSV_DIALECTS)(
    'begins no formula, whichever separator %s CSV is read with, unless it is a number of ours',
    (dialect) => {
      fc.assert(
        fc.property(fc.array(fc.tuple(hostile, cell, cell), { minLength: 1, maxLength: 4 }), (rows) => {
          const text = csvText(rows, dialect);
          for (const delimiter of [',', ';', '\t']) {
            expect(formulas(parsed(text, delimiter))).toEqual([]);
            expect(formulas(split(text, delimiter))).toEqual([]);
          }
        }),
        { numRuns: 500 },
      );
    },
  );

  test.each(CSV_DIALECTS)('holds what was written, but for the apostrophes, as %s CSV', (dialect) => {
    const bare = (value: unknown): string => String(value).replaceAll("'", '');
    fc.assert(
      fc.property(fc.array(fc.tuple(hostile, hostile), { minLength: 1, maxLength: 4 }), (rows) => {
        const read: readonly (readonly string[])[] = parse(csvText(rows, dialect), {
          delimiter: dialect === 'plain' ? ',' : ';',
        });
        expect(read.map((row) => row.map(bare))).toEqual(rows.map((row) => row.map(bare)));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['x;=1+1;y', `"x;'=1+1;y"\n`],
    ['x,=1+1', `"x,'=1+1"\n`],
    ['a\tb', `"a\tb"\n`],
    ['two\nlines', `"two\nlines"\n`],
    ['a\r', `"a\r"\n`],
    ['=1+1', "'=1+1\n"],
    [' =1+1', "' =1+1\n"],
    ['\t=1+1', `"'\t'=1+1"\n`],
    ['x;"=1+1"', `"x;'""=1+1"""\n`],
    ['\uff1d1+1', "'\uff1d1+1\n"],
    ['Silva - Souza', 'Silva - Souza\n'],
    ['-12.30', "'-12.30\n"],
    [-12.3, '-12.3\n'],
    [JSON.rawJSON('-12.30'), '-12.30\n'],
    [null, '\n'],
  ])('%j is written %j', (value, text) => {
    expect(csvText([[value]])).toBe(text);
  });

  test.each([
    [JSON.rawJSON('-12.30'), '-12,30\n'],
    [JSON.rawJSON('999999999999.99'), '999999999999,99\n'],
    [12.5, '12,5\n'],
    [1_234, '1234\n'],
    ['12.30', '12.30\n'],
    ['1,5', '1,5\n'],
    ['-1,5', '"\'-1,5"\n'],
    ['x;=1+1;y', `"x;'=1+1;y"\n`],
    ['a, b', '"a, b"\n'],
    ['00123', '00123\n'],
  ])('%j is written %j for Brazil', (value, text) => {
    expect(csvText([[value]], 'brazilian')).toBe(text);
  });

  test('a list for Brazil begins with a mark, once, and says words of the interface in Portuguese', async () => {
    const columns = [
      { name: 'code', of: ({ code }: { readonly code: string }) => code },
      { name: 'status', of: () => 'term_signed', brazilian: () => 'Termo assinado' },
      { name: 'amount', of: () => 123_456_789, amount: true as const },
    ];
    const rows = Array.from({ length: 501 }, (_, i) => ({ code: `A-${i}` }));
    const text = (await Array.fromAsync(printedRows(columns, rows, { ...CSV, dialect: 'brazilian' }))).join(
      '',
    );
    expect(text.startsWith('\ufeffcode;status;amount\nA-0;Termo assinado;1234567,89\n')).toBe(true);
    expect(text.split('\n')).toHaveLength(503);
    expect(text.lastIndexOf('\ufeff')).toBe(0);
  });

  test('is written the same way in lists and in objects, under harmless names', async () => {
    const columns = [
      { name: 'name', of: () => 'x;=1+1;y' },
      { name: 'amount', of: () => -1_230, amount: true as const },
    ];
    const list = await Array.fromAsync(printedRows(columns, [{}], CSV));
    expect(list.join('')).toBe(`name,amount\n"x;'=1+1;y",-12.30\n`);
    const object = await Array.fromAsync(
      printedObject({ '=name': 'x;=1+1;y', amount: JSON.rawJSON('-12.30') }, CSV),
    );
    expect(object.join('')).toBe(`field,value\n'=name,"x;'=1+1;y"\namount,-12.30\n`);
  });
});
