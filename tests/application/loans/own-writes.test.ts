import { describe, expect, test } from '@jest/globals';
import { OwnWrites } from '../../../application/loans/read-model-progress.ts';

describe('own writes', () => {
  test('are forgotten once the read model has them, unless the stream was written again', () => {
    const writes = new OwnWrites(10_000);
    writes.note('app-1', 'loan-app-1.A', 1n);
    writes.note('app-1', 'loan-app-1.B', 2n);
    writes.note('app-1', 'loan-app-1.A', 3n);
    writes.seen('app-1', 'loan-app-1.A', 1n);
    writes.seen('app-1', 'loan-app-1.B', 2n);
    expect(writes.of('app-1')).toEqual([['loan-app-1.A', 3n]]);
    expect(writes.of('app-2')).toEqual([]);
  });

  test('beyond their bytes the oldest go, of the application that has written nothing for longest', () => {
    const writes = new OwnWrites(10_000);
    writes.note('quiet', 'loan-quiet.A', 1n);
    for (let index = 0; index < 1_000; index++) writes.note('busy', `loan-busy.${index}`, 1n);
    expect(writes.of('quiet')).toEqual([]);
    const kept = writes.of('busy');
    expect(kept.length).toBeGreaterThan(40);
    expect(kept.length).toBeLessThan(60);
    expect(kept.at(-1)).toEqual(['loan-busy.999', 1n]);
    for (const [stream, revision] of kept) writes.seen('busy', stream, revision);
    writes.note('quiet', 'loan-quiet.A', 2n);
    expect(writes.of('quiet')).toHaveLength(1);
  });
});
