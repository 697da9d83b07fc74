import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { advance, noOperation } from '../../../application/command-handling/operation.ts';
import type { Operation } from '../../../application/command-handling/operation.ts';
import { CHAIN_START, chainEvents, encodeEvent } from '../../../application/event-codec/event-codec.ts';
import { bytesOf, keptOperations } from '../../../application/command-handling/kept-operations.ts';
import { NOW, activated } from '../../domain/support/loan-story.ts';

const of = (stream: string): Operation => {
  const metadata = {
    ...{ correlationId: 'c', causationId: 'c', actor: 'a', applicationId: 'app-1', recordedAt: NOW },
    idempotency: { endpoint: 'loan', key: stream, fingerprint: 'f'.repeat(64) },
  };
  const stored = activated.map((event, index) => ({ id: `${index}`, ...encodeEvent(event), metadata }));
  return advance(noOperation(), activated, chainEvents(CHAIN_START, stream, stored), 3n);
};

const OPERATION = of('loan-app-1.0');
const MOST = 40;

describe('kept operations', () => {
  test('come back as the very objects that were kept', () => {
    const kept = keptOperations(MOST * bytesOf(OPERATION));
    kept.set('loan-app-1.0', OPERATION);
    expect(kept.get('loan-app-1.0')).toBe(OPERATION);
    kept.delete('loan-app-1.0');
    expect(kept.get('loan-app-1.0')).toBeUndefined();
  });

  test('beyond their room those go that were not used for longest', () => {
    const kept = keptOperations(MOST * bytesOf(OPERATION));
    const streams = Array.from({ length: 1_000 }, (_, index) => `loan-app-1.${index}`);
    for (const stream of streams) kept.set(stream, OPERATION);
    const left = streams.filter((stream) => kept.get(stream) !== undefined);
    expect(left).toEqual(streams.slice(-left.length));
    expect(left.length).toBeGreaterThan(MOST / 2);
    expect(left.length).toBeLessThan(MOST);
  });

  test.each([
    ['3', '36'],
    ['64', '64'],
  ])(
    'are counted as the bytes that they take, with codes of %s characters and keys of %s',
    async (...lengths) => {
      const program = fileURLToPath(new URL('../../support/weighed-operations.ts', import.meta.url));
      const { stdout } = await promisify(execFile)(process.execPath, [program, ...lengths]);
      const kinds = JSON.parse(stdout) as readonly [string, { measured: number; counted: number }][];
      expect(kinds).toHaveLength(7);
      const untrue = kinds.filter(
        ([, { measured, counted }]) => counted < 0.75 * measured || counted > 1.4 * measured + 2_000,
      );
      expect(untrue).toEqual([]);
    },
  );
});
