import { describe, expect, test } from '@jest/globals';
import { tableOf } from '../../../infrastructure/presenting/columns.ts';
import { inOneLine, shownOnly } from '../../../infrastructure/presenting/terminal-text.ts';

const ATTACK = 'paid\u001b[2K\r\u009b31m\u0007\u007f\u202eevil\u2066';

test('a table says how large a number of bytes is', () => {
  const columns = [{ name: 'size', of: (size: number) => size, bytes: true as const }];
  expect(tableOf(columns, [1_363_149, 640]).split('\n').slice(2, 4)).toEqual([
    '1363149 (1.3 MiB)',
    '    640 (0.0 MiB)',
  ]);
});

describe('text that others chose', () => {
  test('does nothing to a terminal, and keeps every letter', () => {
    expect(shownOnly(ATTACK)).toBe('paid\\u001b[2K\\u000d\\u009b31m\\u0007\\u007f\\u202eevil\\u2066');
    expect(shownOnly('ação ✓ 🙂\tand\na line\n')).toBe('ação ✓ 🙂\tand\na line\n');
  });

  test('stays the same value in JSON', () => {
    expect(JSON.parse(shownOnly(JSON.stringify({ note: ATTACK })))).toEqual({ note: ATTACK });
  });

  test('cannot imitate a line or a column of its own', () => {
    expect(inOneLine('late\n   3  SettledEvent\t1')).toBe('late\\u000a   3  SettledEvent\\u00091');
    const columns = [0, 1].map((i) => ({ name: `${i}`, of: (row: readonly string[]) => row[i] }));
    expect(tableOf(columns, [['x\ny', ATTACK]]).split('\n')).toHaveLength(4);
  });
});
