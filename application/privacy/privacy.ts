import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import { loanEntries } from '../event-codec/entries.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import { upToNow } from '../support/up-to-now.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { BorrowerIndexEntry, SqlBorrowerIndex } from './borrower-index.ts';
import { ForgetBorrower, borrowerDigest, maskDocument } from './forget-borrower.ts';
import type { Forgetting } from './forget-borrower.ts';
import { ifReadable } from './missing-keys.ts';

const CHECKPOINT = 'borrower-index';
const LEFT = Symbol('left');

const entryOf = async (
  recorded: RecordedEvent,
  vault: Pick<BorrowerVault, 'open' | 'digest'>,
): Promise<BorrowerIndexEntry | undefined> => {
  if (recorded.type !== loanEntries.LoanReceived.storedType) return undefined;
  const event = decodeLoanEvent(recorded);
  if (event.type !== 'LoanReceived') return undefined;
  const { stream } = recorded;
  const borrower = await vault.open(stream, event.borrower);
  return borrower && { digest: borrowerDigest(vault, borrower.document_number), stream };
};

/** An operation's sealed borrower; empty once it was forgotten. */
interface HeldData {
  readonly stream: string;
  readonly borrower: string;
}

interface Dependencies extends Forgetting {
  readonly log: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly index: SqlBorrowerIndex;
  readonly vault: BorrowerVault;
  /** Takes what was deleted out of the store's own log; false when that has to wait, undefined where the engine sees to it. */
  readonly scrub: () => Promise<boolean | undefined>;
}

export class Privacy {
  readonly forgetting: ForgetBorrower;
  readonly scrub: Dependencies['scrub'];
  readonly #deps: Dependencies;
  #indexed: Promise<unknown> | undefined;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.forgetting = new ForgetBorrower(dependencies);
    this.scrub = dependencies.scrub;
  }

  /**
   * Later ones enter the index when their data is sealed, so this walks the log once in the life of a database.
   * @returns streams of operations that cannot be read, and so are not entered by it
   */
  async index(): Promise<readonly string[]> {
    const { log, checkpoints, index, vault } = this.#deps;
    if ((await checkpoints.load(CHECKPOINT)) !== 'start') return [];
    let last: LogPosition | undefined;
    const left = new Set<string>();
    const entryOrLeft = async (recorded: RecordedEvent) => {
      const entry = await ifReadable(() => entryOf(recorded, vault), LEFT);
      if (entry === LEFT) left.add(recorded.stream);
      return entry === LEFT ? undefined : entry;
    };
    const all = { from: 'start', streamPrefix: LOAN_STREAM_PREFIX } as const;
    for await (const message of upToNow(log, all)) {
      last = message.checkpoint;
      if (message.kind !== 'events') continue;
      const entries = await Promise.all(message.events.map(entryOrLeft));
      await index.add(entries.filter((entry) => entry !== undefined));
    }
    // Once its key is put back, or a release that reads it has started, such an operation has to be found as well.
    if (last !== undefined && left.size === 0) await checkpoints.move(CHECKPOINT, 'start', last);
    return [...left];
  }

  /** The index as far as it can be made, once in a process: it walks the log each time while an operation cannot be read. */
  async indexed(): Promise<void> {
    this.#indexed ??= this.index();
    try {
      await this.#indexed;
    } catch (error) {
      this.#indexed = undefined;
      throw error;
    }
  }

  async streamsOf(documentNumber: string): Promise<readonly string[]> {
    const { index, vault } = this.#deps;
    await this.indexed();
    return index.streamsOf(borrowerDigest(vault, documentNumber));
  }

  /** A digest for each stream, the same for the same borrower. Who they are is not read for it. @param operations at most 1,000 */
  async tell(operations: readonly HeldData[]): Promise<ReadonlyMap<string, string>> {
    const known = operations.filter(({ borrower }) => borrower !== '');
    const entries = await this.#deps.index.entriesOf(known.map(({ stream }) => stream));
    const digests = Map.groupBy(entries, ({ stream }) => stream);
    const told = new Map<string, string>();
    for (const held of known) {
      const [entry, ...others] = digests.get(held.stream) ?? [];
      const digest = others.length === 0 ? entry?.digest : await this.#digestIn(held);
      if (digest !== undefined) told.set(held.stream, digest);
    }
    return told;
  }

  /**
   * Streams of operations whose borrower may be that of this one, which is among them; others were only tried for it, @see tell.
   * Undefined once it was forgotten. @param most of the streams
   */
  async streamsOfSame(held: HeldData, most: number): Promise<readonly string[] | undefined> {
    await this.indexed();
    const digest = (await this.tell([held])).get(held.stream);
    return digest === undefined ? undefined : this.#deps.index.streamsOf(digest, most);
  }

  /** The masked document of an operation's borrower; null once it was forgotten, or where its key is missing. */
  async maskedDocument(held: HeldData): Promise<string | null> {
    return (await this.maskedBorrower(held))?.document ?? null;
  }

  async maskedBorrower(held: HeldData) {
    const opened = await this.#open(held);
    return opened ? { name: opened.name, document: maskDocument(opened.document_number) } : null;
  }

  /** Attempts that were refused leave entries of other borrowers; what the operation was received with says whose it is. */
  async #digestIn(held: HeldData): Promise<string | undefined> {
    const borrower = await this.#open(held);
    return borrower && borrowerDigest(this.#deps.vault, borrower.document_number);
  }

  #open({ stream, borrower }: HeldData) {
    const { vault } = this.#deps;
    return ifReadable(() => vault.open(stream, borrower as SealedBorrower), undefined);
  }
}
