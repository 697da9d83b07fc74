import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import { loanEntries } from '../event-codec/entries.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import { upToNow } from '../support/up-to-now.ts';
import type { BorrowerIndexEntry, SqlBorrowerIndex } from './borrower-index.ts';
import { borrowerDigest } from './forget-borrower.ts';
import { unlessKeyMissing } from './missing-keys.ts';

interface Dependencies {
  readonly log: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly vault: Pick<BorrowerVault, 'open' | 'digest'>;
  readonly index: Pick<SqlBorrowerIndex, 'add'>;
}

const CHECKPOINT = 'borrower-index';

/**
 * Finds the borrowers of operations that came in before the index existed. Later ones enter it when their data is sealed, so this
 * walks the log once in the life of a database.
 */
export const indexBorrowers = async ({ log, checkpoints, index, vault }: Dependencies): Promise<void> => {
  if ((await checkpoints.load(CHECKPOINT)) !== 'start') return;
  let last: LogPosition | undefined;
  let lost = false;
  for await (const message of upToNow(log, { from: 'start', streamPrefix: LOAN_STREAM_PREFIX })) {
    last = message.checkpoint;
    if (message.kind !== 'events') continue;
    const entries = await Promise.all(message.events.map((event) => entryOf(event, vault)));
    lost ||= entries.includes('key_missing');
    await index.add(entries.filter((entry) => entry !== undefined && entry !== 'key_missing'));
  }
  // Once its key is put back, such an operation has to be found as well.
  if (last !== undefined && !lost) await checkpoints.move(CHECKPOINT, 'start', last);
};

const entryOf = async (
  recorded: RecordedEvent,
  vault: Dependencies['vault'],
): Promise<BorrowerIndexEntry | 'key_missing' | undefined> => {
  if (recorded.type !== loanEntries.LoanReceived.storedType) return undefined;
  const event = decodeLoanEvent(recorded);
  if (event.type !== 'LoanReceived') return undefined;
  const { stream } = recorded;
  const borrower = await unlessKeyMissing(() => vault.open(stream, event.borrower), 'key_missing' as const);
  if (borrower === undefined || borrower === 'key_missing') return borrower;
  return { digest: borrowerDigest(vault, borrower.document_number), stream };
};
