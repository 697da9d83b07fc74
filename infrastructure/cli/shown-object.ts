import { printedRows, titleOf } from '../presenting/columns.ts';
import type { Column, Printing } from '../presenting/columns.ts';
import type { CliCommand } from './cli-command.ts';
import { csvText, textOf } from '../presenting/csv.ts';
import { inOneLine, tableText, widthsOf } from '../presenting/terminal-text.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
const isTable = (value: unknown): value is readonly Fields[] =>
  Array.isArray(value) && value.length > 0 && value.every(isFields);

/** Fields of objects in it by their path, such as `balances.received_value`; lists of objects apart. */
function* flat(fields: Fields, path = ''): Generator<readonly [string, unknown]> {
  for (const [name, value] of Object.entries(fields)) {
    if (isFields(value)) yield* flat(value, `${path}${name}.`);
    else yield [`${path}${name}`, value];
  }
}

const columnsOf = (rows: readonly Fields[]): readonly Column<Fields>[] => {
  const names = [...new Set(rows.flatMap((row) => [...flat(row)].map(([name]) => name)))];
  return names.map((name) => ({ name, of: (row) => [...flat(row)].find(([path]) => path === name)?.[1] }));
};

async function* objectTable(shown: Fields, printing: Printing): AsyncGenerator<string> {
  const fields = [...flat(shown)];
  const single = fields
    .filter(([, value]) => !isTable(value))
    .map(([name, value]) => [titleOf(name), inOneLine(textOf(value))] as const);
  const header = ['field', 'value'];
  yield tableText({
    header,
    rows: single,
    right: [],
    colour: printing.colour,
    widths: widthsOf({ header, rows: single }),
  });
  for (const [name, value] of fields) {
    if (!isTable(value)) continue;
    yield `\n${titleOf(name)}\n`;
    yield* printedRows(columnsOf(value), value, printing);
  }
}

function* objectCsv(shown: Fields, path = ''): Generator<string> {
  if (path === '') yield csvText([['field', 'value']]);
  for (const [name, value] of flat(shown, path)) {
    if (isTable(value)) for (const [i, one] of value.entries()) yield* objectCsv(one, `${name}[${i}].`);
    else yield csvText([[name, value]]);
  }
}

/** One object: a JSON line, fields and values below each other, or the same as CSV. */
export const printedObject = (
  shown: object,
  printing: Printing,
): AsyncIterable<string> | Iterable<string> => {
  switch (printing.format) {
    case 'json':
      return [`${JSON.stringify(shown)}\n`];
    case 'table':
      return objectTable(shown as Fields, printing);
    case 'csv':
      return objectCsv(shown as Fields);
  }
};

export const showObject = (command: CliCommand, shown: object): Promise<void> =>
  command.deliver((printing) => printedObject(shown, printing));
