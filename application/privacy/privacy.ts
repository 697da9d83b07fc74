import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { EventSubscription } from '../ports/event-store.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { SqlBorrowerIndex } from './borrower-index.ts';
import { ForgetBorrower, borrowerDigest, maskDocument } from './forget-borrower.ts';
import type { BorrowerOperation, Forgetting } from './forget-borrower.ts';
import { indexBorrowers } from './index-borrowers.ts';
import { tellBorrowers } from './tell-borrowers.ts';
import type { HeldData } from './tell-borrowers.ts';
import { unlessKeyMissing } from './missing-keys.ts';

interface Dependencies extends Forgetting {
  readonly log: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly index: SqlBorrowerIndex;
  readonly vault: BorrowerVault;
  /** Takes what was deleted out of the store's own log; false when that has to wait, undefined where the engine sees to it. */
  readonly scrub: () => Promise<boolean | undefined>;
}

/** Whose data operations hold, and that it is forgotten. */
export class Privacy {
  readonly forgetting: ForgetBorrower;
  readonly scrub: Dependencies['scrub'];
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.forgetting = new ForgetBorrower(dependencies);
    this.scrub = dependencies.scrub;
  }

  /** Enters the borrowers of operations that came in before there was an index. */
  index(): Promise<void> {
    return indexBorrowers(this.#deps);
  }

  /** As `ForgetBorrower.find`, of all operations that there are. */
  async find(documentNumber: string, applicationId?: string): Promise<readonly BorrowerOperation[]> {
    await this.index();
    return this.forgetting.find(documentNumber, applicationId);
  }

  /** Streams of the operations that a borrower with this document was named for. */
  async streamsOf(documentNumber: string): Promise<readonly string[]> {
    const { index, vault } = this.#deps;
    await this.index();
    return index.streamsOf(borrowerDigest(vault, documentNumber));
  }

  /** A digest for each stream, the same for the same borrower. None for one whose borrower was forgotten. */
  tell(operations: readonly HeldData[]): Promise<ReadonlyMap<string, string>> {
    return tellBorrowers(this.#deps, operations);
  }

  /**
   * Streams of operations whose borrower may be that of this one, which is among them; others were only tried for it, @see tell.
   * Undefined once it was forgotten. @param most of the streams
   */
  async streamsOfSame(held: HeldData, most: number): Promise<readonly string[] | undefined> {
    await this.index();
    const digest = (await this.tell([held])).get(held.stream);
    return digest === undefined ? undefined : this.#deps.index.streamsOf(digest, most);
  }

  /** The masked document of an operation's borrower; null once it was forgotten, or where its key is missing. */
  async maskedDocument(held: HeldData): Promise<string | null> {
    return (await this.maskedBorrower(held))?.document ?? null;
  }

  /** As `maskedDocument`, with the name. */
  async maskedBorrower({ stream, borrower }: HeldData) {
    const { vault } = this.#deps;
    const opened = await unlessKeyMissing(() => vault.open(stream, borrower as SealedBorrower), undefined);
    return opened ? { name: opened.name, document: maskDocument(opened.document_number) } : null;
  }
}
