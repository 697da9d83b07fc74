import type { Projection } from '../../projections/projection.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { EventStore, EventSubscription } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { numberOf } from '../projecting/projected-event.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { anchorLines } from './anchor.ts';
import type { AnchorSigner } from './anchor.ts';
import type { AuditNotes } from './audit-notes.ts';
import { SqlAuditedRows } from './audited-rows.ts';
import type { ClaimLog } from './check-claims.ts';
import type { Difference } from './difference.ts';
import { exportLines, LogWalk } from './log-walk.ts';
import { SqlFrozenEvents } from './frozen-events.ts';
import { SqlSealBook } from './seals/seal-book.ts';
import type { SealPlace } from './seals/check-seals.ts';
import { SealLog } from './seals/seal-log.ts';
import type { BookParts } from './seals/seal-log.ts';
import type { ReadModel } from './settled-rows.ts';
import { showOperation } from './show-operation.ts';
import type { ShowRequest, ShownOperation } from './show-operation.ts';
import { Verification } from './verification.ts';
import { verifyLog } from './verify-log.ts';
import type { VerifyRequest, VerifySummary } from './verify-log.ts';

interface Dependencies {
  readonly log: EventStore & EventSubscription & Partial<ClaimLog>;
  readonly toSeal: () => EventSubscription;
  readonly kind: string;
  readonly serviceDatabase: SqlDatabase;
  readonly readModelDatabase: SqlDatabase;
  readonly projections: readonly Projection[];
  readonly readModels: () => readonly ReadModel[];
  readonly apiVersion: string;
  readonly sandbox: boolean;
  readonly sealKeys: BookParts['keys'];
  readonly signer: AnchorSigner;
  readonly vault: Pick<BorrowerVault, 'openTexts'>;
  readonly documents: Pick<DocumentStore, 'open'>;
  /** @param file kept there for an audit that goes on later; without one they go with the process */
  readonly openNotes: (file?: string) => AuditNotes;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  readonly logger: Logger;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const keepsClaims = <Log extends Partial<ClaimLog>>(log: Log): log is Log & ClaimLog =>
  log.claims !== undefined;

export class Audit {
  readonly signer: AnchorSigner;
  readonly openNotes: Dependencies['openNotes'];
  readonly background: Verification;
  readonly #deps: Dependencies;
  #sealing: SealLog | undefined;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.signer = dependencies.signer;
    this.openNotes = dependencies.openNotes;
    this.background = new Verification(this);
  }

  /** @throws DomainError `loan_not_found` @throws UnreadableEventError for a type of a newer version */
  show(request: ShowRequest): Promise<ShownOperation> {
    const { log, vault } = this.#deps;
    return showOperation({ events: log, vault }, request);
  }

  /** Of the operations, about: how far a verification will go. */
  expectedEvents(): Promise<number> {
    return new SqlAuditedRows(this.#deps.readModelDatabase).countEvents();
  }

  verify(request: VerifyRequest): AsyncGenerator<Difference, VerifySummary> {
    const { log, serviceDatabase, readModelDatabase, projections, apiVersion, sealKeys } = this.#deps;
    const { readModels, clock, sandbox, documents, sleep } = this.#deps;
    const stores = {
      events: log,
      subscription: log,
      ...(keepsClaims(log) && { claimLog: log }),
      rows: new SqlAuditedRows(readModelDatabase),
      frozen: new SqlFrozenEvents(serviceDatabase),
      auditing: { projections, apiVersion, sandbox },
      readModels: readModels(),
      seals: { book: new SqlSealBook(serviceDatabase), keys: sealKeys, numberOf },
      documents,
      clock,
      sleep,
    };
    return verifyLog(stores, request);
  }

  seal(signal: AbortSignal): Promise<void> {
    return this.#sealLog.run(signal);
  }

  /** Seals all that is there: the end of the seal book, and the lines of an anchor of it. @throws BrokenSealBookError */
  async anchor(): Promise<{
    readonly takenAt: string;
    readonly seal: SealPlace;
    readonly lines: AsyncGenerator<string>;
  }> {
    const takenAt = this.now();
    const seal = await this.#sealLog.sealNow();
    return { takenAt, seal, lines: anchorLines({ takenAt, seal, heads: [] }, this.signer) };
  }

  /** Every event up to now as it is stored, for programs of others: a line each, in the order of the log. */
  export(): AsyncGenerator<string> {
    const { log: subscription, sleep } = this.#deps;
    return exportLines(this.now(), new LogWalk({ subscription, sleep }));
  }

  now(): string {
    return this.#deps.realClock.realNow();
  }

  get #sealLog(): SealLog {
    const { toSeal, serviceDatabase, sealKeys, kind, realClock, logger, sleep } = this.#deps;
    return (this.#sealing ??= new SealLog({
      subscription: toSeal(),
      book: new SqlSealBook(serviceDatabase),
      keys: sealKeys,
      log: kind,
      clock: realClock,
      logger,
      sleep,
    }));
  }
}
