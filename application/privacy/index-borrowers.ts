import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import { loanReceived } from '../event-codec/entries.ts';
import type { BorrowerIndex, BorrowerIndexEntry, BorrowerVault } from '../ports/borrower-vault.ts';
import type { CheckpointStore } from '../ports/coordination.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import { borrowerDigest } from './forget-borrower.ts';
import { KeyMissingError } from './missing-keys.ts';

interface Dependencies {
  readonly subscription: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly vault: Pick<BorrowerVault, 'open' | 'digest'>;
  readonly index: Pick<BorrowerIndex, 'add'>;
}

const CHECKPOINT = 'borrower-index';

/**
 * Finds the borrowers of operations that came in before the index existed. Later ones enter it when their data is sealed, so this
 * walks the log once in the life of a database.
 */
export class IndexBorrowers {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @param progress called with the number of events passed, after each batch */
  async completeOnce(progress: (events: number) => void): Promise<void> {
    const { subscription, checkpoints, index } = this.#deps;
    if ((await checkpoints.load(CHECKPOINT)) !== 'start') return;
    const stop = new AbortController();
    let last: LogPosition | undefined;
    const options = { from: 'start', streamPrefix: LOAN_STREAM_PREFIX, signal: stop.signal } as const;
    let lost = false;
    for await (const message of subscription.subscribe(options)) {
      if (message.kind === 'caught_up') break;
      last = message.checkpoint;
      if (message.kind !== 'events') continue;
      const entries = await Promise.all(message.events.map((event) => this.#entryOf(event)));
      lost ||= entries.includes('key_missing');
      await index.add(entries.filter((entry) => entry !== undefined && entry !== 'key_missing'));
      progress(message.events.length);
    }
    stop.abort();
    // Once its key is put back, such an operation has to be found as well.
    if (last !== undefined && !lost) await checkpoints.advance(CHECKPOINT, 'start', last);
  }

  async #entryOf(recorded: RecordedEvent): Promise<BorrowerIndexEntry | 'key_missing' | undefined> {
    if (recorded.type !== loanReceived.storedType) return undefined;
    const event = decodeLoanEvent(recorded);
    if (event.type !== 'LoanReceived') return undefined;
    const { vault } = this.#deps;
    try {
      const borrower = await vault.open(recorded.stream, event.borrower);
      return borrower && { digest: borrowerDigest(vault, borrower.document_number), stream: recorded.stream };
    } catch (error) {
      if (error instanceof KeyMissingError) return 'key_missing';
      throw error;
    }
  }
}
