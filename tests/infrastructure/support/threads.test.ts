import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { HEAPS, MAIN_HEAP_FLAGS, threadOptions } from '../../../infrastructure/support/threads.ts';

const MIB = 1_048_576;
const file = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const limitOf = "require('node:v8').getHeapStatistics().heap_size_limit";

describe('heaps of threads', () => {
  test.each(Object.entries(HEAPS).filter(([name]) => name !== 'main'))(
    'that of %s has its stated size, whatever the machine',
    async (name, heap) => {
      const program = `require('node:worker_threads').parentPort.postMessage(${limitOf})`;
      const worker = new Worker(program, { ...threadOptions(name, heap), eval: true });
      const [limit] = (await once(worker, 'message')) as [number];
      expect(limit / MIB).toBe(heap.young + heap.old);
    },
  );

  test('that of the main thread has its stated size with the flags of the service', () => {
    const args = [...MAIN_HEAP_FLAGS, '--print', limitOf];
    const limit = Number(execFileSync(process.execPath, args, { env: {}, encoding: 'utf8' }));
    expect(limit / MIB).toBe(HEAPS.main.young + HEAPS.main.old);
  });

  test.each(['package.json', 'Dockerfile', 'docs/operations/receivables.service'])(
    'the service is started with these flags by %s',
    (name) => {
      const line = file(name)
        .split('\n')
        .find((one) => one.includes('composition/main.ts') && !one.includes('bench'));
      for (const flag of MAIN_HEAP_FLAGS) expect(line).toContain(flag);
    },
  );
});
