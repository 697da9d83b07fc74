import { expect, test } from '@jest/globals';
import { commandLine } from '../../support/command-line.ts';

const THERE = 1_002;

/** So many operations, of which a caller gets no more than it asks for. */
const run = commandLine(
  () => ({
    loans: {
      leftOut: async () => [],
      catchUp: async () => undefined,
      rows: async function* ({ limit }: { readonly limit: number }) {
        for (let i = 0; i < Math.min(limit, THERE); i += 1) yield { code: `OP-${i}` } as never;
      },
    },
  }),
  { terminal: true },
);
const linesOf = (out: string): number => out.trimEnd().split('\n').length;

test('a terminal gets the first thousand, and is told of the rest', async () => {
  const { out, err } = await run('loan', 'list', '-o', 'json');
  expect(linesOf(out)).toBe(1_000);
  expect(err).toBe(
    'only the first 1000 are listed and there are more: --limit N lists more, --output FILE writes all of them\n',
  );
});

test('CSV holds all of them, or as many as were asked for', async () => {
  const whole = await run('loan', 'list', '-o', 'csv');
  expect([linesOf(whole.out), whole.err]).toEqual([THERE + 1, '']);
  expect(whole.out.split('\n')[0]).toMatch(/,updated_at,days_late,overdue_value$/);
  const cut = await run('loan', 'list', '-o', 'csv', '--limit', '10');
  expect(linesOf(cut.out)).toBe(11);
  expect(cut.err).toContain('only the first 10 are listed');
  expect((await run('loan', 'list', '--limit', String(THERE))).err).toBe('');
});
