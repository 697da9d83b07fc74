import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import type { Promised } from './promises.ts';

export const borrowerIndexCases: readonly Promised<SqlBorrowerIndex>[] = [
  {
    name: 'an unknown borrower has no operation',
    check: async (index) => {
      expect(await index.streamsOf(randomUUID())).toEqual([]);
      await index.add([]);
      await index.remove({ digest: randomUUID(), stream: 'loan-a.1' });
    },
  },
  {
    name: 'every operation of a borrower is found, once, in order, and no other',
    check: async (index) => {
      const [digest, other] = [randomUUID(), randomUUID()];
      await index.add([
        { digest, stream: 'loan-b.1' },
        { digest, stream: 'loan-a.2' },
        { digest: other, stream: 'loan-a.3' },
      ]);
      await index.add([{ digest, stream: 'loan-a.2' }]);
      expect(await index.streamsOf(digest)).toEqual(['loan-a.2', 'loan-b.1']);
      expect(await index.streamsOf(other)).toEqual(['loan-a.3']);
    },
  },
  {
    name: 'whose operations are is found, in their order, and of no other operation',
    check: async (index) => {
      const [digest, other] = [randomUUID(), randomUUID()];
      const [first, second, third, unknown] = ['a', 'b', 'c', 'd'].map((name) => `loan-${digest}.${name}`);
      await index.add([
        { digest, stream: third! },
        { digest: other, stream: second! },
        { digest, stream: first! },
      ]);
      expect(await index.entriesOf([second!, unknown!, first!])).toEqual([
        { digest, stream: first },
        { digest: other, stream: second },
      ]);
      expect(await index.entriesOf([])).toEqual([]);
    },
  },
  {
    name: 'what is removed is gone, and nothing else',
    check: async (index) => {
      const digest = randomUUID();
      await index.add([
        { digest, stream: 'loan-a.1' },
        { digest, stream: 'loan-a.2' },
      ]);
      await index.remove({ digest, stream: 'loan-a.1' });
      expect(await index.streamsOf(digest)).toEqual(['loan-a.2']);
    },
  },
];
