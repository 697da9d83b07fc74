import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { StatementFormat } from '../../../application/reconciliation/statements.ts';
import { StatementError } from '../../../application/reconciliation/statements.ts';
import { amountReader, dateReader } from '../../../infrastructure/statements/csv-columns.ts';
import { chunksOf, readStatement } from '../../../infrastructure/statements/csv-statements.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const brazilian: StatementFormat = {
  dateColumn: 'Data',
  amountColumn: 'Valor',
  referenceColumn: 'Documento',
  delimiter: ';',
  decimal: ',',
  dateFormat: 'dd/mm/yyyy',
  encoding: 'utf8',
  header: true,
  skipLines: 0,
};

const directory = temporaryDirectory();
const path = join(directory, 'statement.csv');

const read = async (content: string | Buffer, format: Partial<StatementFormat> = {}) => {
  await writeFile(path, content);
  const lines = [];
  for await (const batch of readStatement(path, { ...brazilian, ...format })) lines.push(...batch);
  return lines;
};

const HEADER = 'Data;Histórico;Valor;Documento\n';
const LINE = '15/06/2026;LIQUIDACAO;1.234,56;A/001\n';
const READ = { line: 2, date: '2026-06-15', amount: 123_456, reference: 'A/001' };

describe('a statement', () => {
  test.each<[string, string | Buffer, Partial<StatementFormat>, object]>([
    ['as a Brazilian bank writes it', HEADER + LINE, {}, READ],
    ['with a byte order mark', `\uFEFF${HEADER}${LINE}`, {}, READ],
    ['with the line ends of Windows', (HEADER + LINE).replaceAll('\n', '\r\n'), {}, READ],
    ['without a line end', (HEADER + LINE).trimEnd(), {}, READ],
    ['with titles in another case', HEADER.toUpperCase() + LINE, {}, READ],
    ['in Latin-1', Buffer.from(HEADER + LINE, 'latin1'), { encoding: 'latin1' }, READ],
    ['in UTF-16', Buffer.from(`\uFEFF${HEADER}${LINE}`, 'utf16le'), { encoding: 'utf16le' }, READ],
    ['below other lines', `Banco\n\n${HEADER}${LINE}`, { skipLines: 2 }, { ...READ, line: 4 }],
    [
      'without a header',
      LINE,
      { header: false, dateColumn: '1', amountColumn: '3', referenceColumn: '4' },
      { ...READ, line: 1 },
    ],
    ['without references', HEADER + LINE, { referenceColumn: '-' }, { ...READ, reference: '' }],
    ['with quoted values', `${HEADER}"15/06/2026";"a; ""b""";"1.234,56";" A/001 "\n`, {}, READ],
    [
      'in the default notation',
      'date,amount,reference\n2026-06-15,1234.56,A/001\n',
      {
        ...{ dateColumn: 'date', amountColumn: 'amount', referenceColumn: 'reference' },
        ...{ delimiter: ',', decimal: '.', dateFormat: 'yyyy-mm-dd' },
      },
      READ,
    ],
  ])('%s is read', async (_, content, format, expected) => {
    expect(await read(content, format)).toEqual([expected]);
  });

  test.each([
    ['first line alone ends as in Windows', `${HEADER.trimEnd()}\r\n${LINE.repeat(3)}`],
    ['first line alone does not', HEADER + LINE.repeat(3).replaceAll('\n', '\r\n')],
    ['lines end as on an old Macintosh', (HEADER + LINE.repeat(3)).replaceAll('\n', '\r')],
  ])('whose %s is read', async (_, content) => {
    expect(await read(content)).toEqual([2, 3, 4].map((line) => ({ ...READ, line })));
  });

  test('of many chunks keeps its line numbers', async () => {
    const lines = await read(HEADER + LINE.repeat(20_000));
    expect(lines).toHaveLength(20_000);
    expect(lines.at(-1)).toEqual({ ...READ, line: 20_001 });
  });

  test.each<[string, string | Buffer, string]>([
    [
      'a day that does not exist',
      `${HEADER}${LINE}31/06/2026;x;1,00;A\n`,
      'line 3: "31/06/2026" is not a date',
    ],
    ['a date of another pattern', `${HEADER}2026-06-15;x;1,00;A\n`, 'line 2: "2026-06-15" is not a date'],
    [
      'an amount of another notation',
      `${HEADER}15/06/2026;x;1,234.56;A\n`,
      'line 2: "1,234.56" is not an amount',
    ],
    ['no amount', `${HEADER}15/06/2026;x;;A\n`, 'line 2: "" is not an amount'],
    ['a column too few', `${HEADER}${LINE}15/06/2026;1,00;A\n`, 'line 3: it has another number of columns'],
    ['an open quotation mark', `${HEADER}15/06/2026;"x;1,00;A\n`, 'line 2: a quotation mark is opened'],
    ['a quotation mark inside', `${HEADER}15/06/2026;x"y;1,00;A\n`, 'line 2: a quotation mark stands inside'],
    ['an unknown column', 'Data;Valor\n', 'line 1: no column Documento among Data, Valor'],
    ['a column twice', 'Data;Valor;Valor;Documento\n', 'line 1: 2 columns are called Valor'],
    [
      'another encoding',
      Buffer.from(`${HEADER}15/06/2026;x;1,00;ção\n`, 'latin1'),
      'line 2: its reference is not utf8',
    ],
    ['a very long date', `${HEADER}${'3'.repeat(9_000)};x;1,00;A\n`, '33..." is not a date'],
    ['a very long amount', `${HEADER}15/06/2026;x;${'9'.repeat(9_000)};A\n`, '99..." is not an amount'],
    ['very many columns', `${'a;'.repeat(9_000)}\n`, '...; say with'],
    ['an endless line', HEADER + 'x'.repeat(200_000), 'too long'],
    [
      'UTF-16 with the higher byte first',
      Buffer.from(HEADER + LINE, 'utf16le').swap16(),
      'line 1: it is UTF-16 with the higher byte first, which is not read: save it as UTF-8',
    ],
    ['UTF-16', Buffer.from(HEADER + LINE, 'utf16le'), 'line 1: it is not utf8 text; say with --encoding'],
    ['nothing', '', `${path} is empty`],
  ])('with %s is refused with its line', async (_, content, message) => {
    const refused = await read(content).catch((error: unknown) => error as Error);
    expect(refused).toBeInstanceOf(StatementError);
    expect((refused as Error).message).toContain(message);
    expect((refused as Error).message.length).toBeLessThan(1_000);
  });

  test('that is not there is refused', async () => {
    await expect(chunksOf(join(directory, 'none.csv'))).rejects.toThrow(StatementError);
  });
});

test.each<[',' | '.', string, number | undefined]>([
  [',', '1.234,56', 123_456],
  [',', '1234,5', 123_450],
  [',', 'R$ 1.234.567,89', 123_456_789],
  [',', '-950,00', -95_000],
  [',', '950,00-', -95_000],
  [',', '(950,00)', -95_000],
  [',', '950,00 D', -95_000],
  [',', '950,00C', 95_000],
  [',', '0,00', 0],
  [',', '1.23,45', undefined],
  [',', '1,234', undefined],
  [',', '1.2345', undefined],
  [',', 'abc', undefined],
  ['.', '1,234.56', 123_456],
  ['.', '1234', 123_400],
  ['.', '1.234,56', undefined],
  ['.', '1e5', undefined],
  ['.', '99999999999999.00', undefined],
])('with "%s" before the cents, %s is %s', (decimal, text, cents) => {
  expect(amountReader(decimal)(text)).toBe(cents);
});

test.each([
  ['dd/mm/yyyy', '15/06/2026', '2026-06-15'],
  ['dd/mm/yy', '15/06/26', '2026-06-15'],
  ['yyyymmdd', '20260615', '2026-06-15'],
  ['dd.mm.yyyy', '15.06.2026', '2026-06-15'],
  ['dd.mm.yyyy', '15/06/2026', undefined],
  ['dd/mm/yyyy', '15/06/2026 00:00:00', '2026-06-15'],
  ['yyyy-mm-dd', '2026-06-15T10:30', '2026-06-15'],
  ['mm/dd/yyyy', '15/06/2026', undefined],
  ['dd/mm/yyyy', '29/02/2027', undefined],
])('as %s, %s is %s', (format, text, date) => {
  expect(dateReader(format)(text)).toBe(date);
});
