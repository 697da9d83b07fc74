import { expect, test } from '@jest/globals';
import type { BorrowerVault } from '../../../application/ports/borrower-vault.ts';
import type { BorrowerIndexEntry } from '../../../application/privacy/borrower-index.ts';
import { borrowerDigest } from '../../../application/privacy/forget-borrower.ts';
import { KeyMissingError } from '../../../application/privacy/missing-keys.ts';
import { Privacy } from '../../../application/privacy/privacy.ts';
import { openVault } from '../../support/application-parts.ts';
import { ana } from '../../support/renegotiation-world.ts';

const SEALED = JSON.stringify({ borrower: ana });
const owned = (...pairs: readonly (readonly [stream: string, digest: string])[]) =>
  pairs.map(([stream, digest]): BorrowerIndexEntry => ({ stream, digest }));

const told = (
  operations: readonly (readonly [stream: string, borrower: string])[],
  entries: readonly BorrowerIndexEntry[],
  open: BorrowerVault['open'] = openVault.open,
) =>
  new Privacy({
    index: {
      entriesOf: async (streams: readonly string[]) =>
        entries.filter(({ stream }) => streams.includes(stream)),
    },
    vault: { ...openVault, open },
  } as never).tell(operations.map(([stream, borrower]) => ({ stream, borrower })));

const unopened: BorrowerVault['open'] = () => Promise.reject(new Error('nothing is to be opened'));

test('borrowers are told apart by the index, without opening their data', async () => {
  const operations = [
    ['loan-a.1', 'sealed'],
    ['loan-a.2', 'sealed'],
    ['loan-a.3', 'sealed'],
  ] as const;
  const entries = owned(['loan-a.1', 'x'], ['loan-a.2', 'y'], ['loan-a.3', 'x']);
  expect([...(await told(operations, entries, unopened))]).toEqual([
    ['loan-a.1', 'x'],
    ['loan-a.2', 'y'],
    ['loan-a.3', 'x'],
  ]);
});

test('one who was forgotten is nobody, also where a refused attempt has left an entry', async () => {
  const entries = owned(['loan-a.1', 'of a refused attempt']);
  expect([...(await told([['loan-a.1', '']], entries, unopened))]).toEqual([]);
});

test('of several entries, the one of the borrower that the operation was received with counts', async () => {
  const right = borrowerDigest(openVault, ana.document_number);
  const entries = owned(['loan-a.1', 'of a refused attempt'], ['loan-a.1', right]);
  expect([...(await told([['loan-a.1', SEALED]], entries))]).toEqual([['loan-a.1', right]]);
  const lost: BorrowerVault['open'] = (stream) => Promise.reject(new KeyMissingError(stream));
  expect([...(await told([['loan-a.1', SEALED]], entries, lost))]).toEqual([]);
});
