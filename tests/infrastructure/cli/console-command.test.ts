import { describe, expect, test } from '@jest/globals';
import type { OpenConsole } from '../../../infrastructure/cli/command-line.ts';
import { commandLine } from '../../support/command-line.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly settings: OpenConsole | undefined;
  readonly shown: readonly string[];
  /** Aborted once nothing of an address is left for a browser. */
  readonly left: readonly AbortSignal[];
  readonly closed: boolean;
}

/** Runs it, types these keys once it has printed an address, and interrupts it. */
const run = async (args: readonly string[], keys = '', isUsed = false): Promise<Ran> => {
  const interrupt = new AbortController();
  const shown: string[] = [];
  const left: AbortSignal[] = [];
  let settings: OpenConsole | undefined;
  let handIn: (() => void) | undefined;
  let [closed, addresses] = [false, 0];
  const { code, out, err } = await commandLine(() => ({}), {
    openConsole: async (given) => {
      settings = given;
      return {
        newAddress: (used) => {
          addresses += 1;
          handIn = used;
          // The keys are typed after the first address, and Ctrl-C comes last.
          setImmediate(() => addresses > keys.length && interrupt.abort());
          return `http://127.0.0.1:4200/enter?token=${addresses}`;
        },
        close: async () => void (closed = true),
      };
    },
    openBrowser: async (address, until) => {
      shown.push(address);
      if (isUsed) handIn?.();
      left.push(until);
    },
    onKey: (listener) => void setImmediate(() => [...keys].forEach(listener)),
    untilInterrupted: () => interrupt.signal,
  })('console', ...args);
  return { code, out, err, settings, shown, left, closed };
};

describe('receivables console', () => {
  test('prints an address, opens it, and ends in order when it is interrupted', async () => {
    const { code, out, settings, shown, closed } = await run([]);
    expect([code, out]).toEqual([0, 'http://127.0.0.1:4200/enter?token=1\n']);
    expect(shown).toEqual(['http://127.0.0.1:4200/enter?token=1']);
    expect(settings).toEqual({
      host: '127.0.0.1',
      port: 0,
      readOnly: false,
      idleMs: 1_800_000,
    });
    expect(closed).toBe(true);
  });

  test.each([true, false])(
    'what opens a browser is taken away when the address was used (%s), when another follows, and at the end',
    async (isUsed) => {
      const { shown, left } = await run([], 'n', isUsed);
      expect(shown).toHaveLength(2);
      expect(left.map(({ aborted }) => aborted)).toEqual([true, true]);
    },
  );

  test('n prints a new address', async () => {
    const { out } = await run(['--no-open'], 'n');
    expect(out.trim().split('\n')).toEqual([
      'http://127.0.0.1:4200/enter?token=1',
      'http://127.0.0.1:4200/enter?token=2',
    ]);
  });

  test('takes what it is told', async () => {
    const args = [
      '--host',
      '::1',
      '--port',
      '4200',
      '--operator',
      ' Maria Souza ',
      '--read-only',
      '--idle',
      '5m',
    ];
    const { settings, shown } = await run([...args, '--no-open']);
    expect(settings).toEqual({
      host: '::1',
      port: 4200,
      operator: 'Maria Souza',
      readOnly: true,
      idleMs: 300_000,
    });
    expect(shown).toEqual([]);
    expect((await run(['--idle', '300ms'])).settings).toMatchObject({ idleMs: 300 });
  });

  test.each([
    [['--port', '65536'], 'from 0 to 65535'],
    [['--operator', ''], '1 to 80 characters'],
    [['--operator', 'a\nb'], '1 to 80 characters'],
    [['--operator', 'x'.repeat(81)], '1 to 80 characters'],
    [['--idle', 'soon'], 'a whole number and a unit'],
    [['--idle', '0s'], 'would last'],
  ])('refuses %j', async (args, message) => {
    const { code, err, settings } = await run(args);
    expect([code, settings]).toEqual([2, undefined]);
    expect(err).toContain(message);
  });
});
