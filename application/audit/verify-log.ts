import type { BusinessClock } from '../ports/clock.ts';
import type { EventSubscription } from '../ports/event-store.ts';
import { SealCheck } from '../seals/check-seals.ts';
import type { SealCoverage, SealPlace, SealStores } from '../seals/check-seals.ts';
import { checkAnchor, checkVanished } from './anchor.ts';
import type { Anchor } from './anchor.ts';
import { AuditBatch } from './audit-batch.ts';
import type { AuditStores, AuditedStream } from './audit-batch.ts';
import type { Difference, Report } from './difference.ts';
import { AuditedStreams, LogWalk } from './log-walk.ts';
import type { Head } from './log-walk.ts';
import type { OperationAudit } from './operation-audit.ts';
import { Orphans } from './orphans.ts';
import { SettledRows } from './settled-rows.ts';
import type { ReadModel } from './settled-rows.ts';

interface Dependencies extends AuditStores {
  readonly subscription: EventSubscription;
  readonly readModels: readonly ReadModel[];
  readonly seals: SealStores;
  readonly clock: BusinessClock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface VerifyRequest {
  /** Only operations of this fund; default: all. */
  readonly fundId?: string;
  /** What was written down earlier. */
  readonly anchor?: Pick<Anchor, 'heads' | 'seal'>;
  /** Told about so many more events that are verified. */
  readonly progress?: (events: number) => void;
}

export interface VerifySummary {
  readonly events: number;
  readonly streams: number;
  readonly publicEvents: number;
  /** Of those, how many the delivery log still holds. */
  readonly frozenEvents: number;
  readonly differences: number;
  readonly seals: SealCoverage;
  /** The end of the seal book. */
  readonly seal: SealPlace | undefined;
  readonly heads: () => Generator<Head>;
}

const STREAMS_AT_ONCE = 100;
/** While one is computed, the stores work on the others. */
const BATCHES_AT_ONCE = 4;

/** One pass over everything: the log from its beginning, stream by stream, and all that was ever made of it. */
export class VerifyLog {
  readonly #deps: Dependencies;
  readonly #batch: AuditBatch;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#batch = new AuditBatch(dependencies);
  }

  /** Events to be expected, for a progress bar. */
  expectedEvents(): Promise<number> {
    return this.#deps.rows.countEvents();
  }

  /** Differences as they are found; what it answers at the end is the summary. */
  async *execute(request: VerifyRequest): AsyncGenerator<Difference, VerifySummary> {
    const run = new Run(this.#deps, this.#batch, request);
    yield* run.verify();
    return run.summary();
  }
}

class Run {
  readonly #deps: Dependencies;
  readonly #batch: AuditBatch;
  readonly #request: VerifyRequest;
  readonly #streams = new AuditedStreams();
  readonly #rows: SettledRows;
  readonly #seals: SealCheck;
  readonly #startedAt: string;
  /** Frozen events from before the start. */
  #frozenEarlier = 0;
  #found: Difference[] = [];
  readonly #report: Report = (difference) => void this.#found.push(difference);
  readonly #counts = { events: 0, streams: 0, publicEvents: 0, frozenEvents: 0, differences: 0 };

  constructor(deps: Dependencies, batch: AuditBatch, request: VerifyRequest) {
    this.#deps = deps;
    this.#batch = batch;
    this.#request = request;
    this.#startedAt = deps.clock.now();
    this.#rows = new SettledRows({ ...deps, batch });
    this.#seals = new SealCheck({ ...deps.seals, report: this.#report }, request.anchor?.seal);
  }

  summary(): VerifySummary {
    const { coverage: seals, head: seal } = this.#seals;
    return { ...this.#counts, seals, seal, heads: () => this.#streams.heads() };
  }

  async *verify(): AsyncGenerator<Difference> {
    await this.#rows.prepare(this.#report);
    await this.#seals.start();
    const walk = new LogWalk(this.#deps);
    const pending: Promise<void>[] = [];
    for await (const streams of this.#newStreams(walk)) {
      pending.push(this.#verifyBatch(streams));
      if (pending.length < BATCHES_AT_ONCE) continue;
      await pending.shift();
      yield* this.#take();
    }
    for (const batch of pending) await batch;
    yield* this.#take();
    yield* this.#afterwards(walk);
  }

  async *#afterwards(walk: LogWalk): AsyncGenerator<Difference> {
    const orphans = new Orphans({ ...this.#deps, streams: this.#streams, report: this.#report });
    for await (const streams of orphans.unseenStreams(this.#request.anchor?.heads)) {
      for (const stream of streams) this.#streams.add(stream);
      await this.#verifyBatch(streams);
      yield* this.#take();
    }
    // The streams were read after the log had shown them, so they may hold more than it showed then.
    for await (const events of walk.toTheEnd(this.#report)) {
      await this.#seals.meet(events);
      for (const event of events)
        if (this.#streams.has(event.stream)) this.#streams.meet(event, this.#report);
    }
    await this.#seals.end();
    this.#streams.checkLog(this.#report);
    if (this.#request.fundId === undefined) {
      await orphans.checkRows(this.#rows.comparable);
      await orphans.checkDeliveries(this.#startedAt, this.#frozenEarlier);
    }
    checkVanished(this.#request.anchor?.heads, this.#streams, this.#report);
    yield* this.#take();
  }

  async *#newStreams(walk: LogWalk): AsyncGenerator<readonly string[]> {
    let some: string[] = [];
    for await (const events of walk.toTheEnd(this.#report)) {
      await this.#seals.meet(events);
      for (const event of events) {
        if (this.#streams.meet(event, this.#report)) some.push(event.stream);
        if (some.length < STREAMS_AT_ONCE) continue;
        yield some;
        some = [];
      }
    }
    if (some.length > 0) yield some;
  }

  async #verifyBatch(streams: readonly string[]): Promise<void> {
    const { fundId, anchor, progress } = this.#request;
    const audited = await this.#batch.audit(streams);
    const wanted = audited.filter((one) => isWanted(one, fundId));
    for (const { stream, events, differences, operation } of wanted) {
      differences.forEach(this.#report);
      if (operation || events.length > 0)
        this.#streams.verified(stream, events, operation?.payments.length ?? 0);
      checkAnchor(anchor?.heads.get(stream), events, this.#report);
    }
    const operations = wanted.flatMap(({ operation }) => (operation ? [operation] : []));
    await Promise.all([this.#rows.compare(operations, this.#report), this.#compareDeliveries(operations)]);
    const events = wanted.reduce((sum, one) => sum + one.events.length, 0);
    this.#counts.events += events;
    this.#counts.streams += wanted.length;
    progress?.(audited.reduce((sum, one) => sum + one.events.length, 0));
  }

  async #compareDeliveries(operations: readonly OperationAudit[]): Promise<void> {
    const { differences, matched } = await this.#batch.compareDeliveries(operations);
    differences.forEach(this.#report);
    this.#counts.frozenEvents += matched.length;
    this.#frozenEarlier += matched.filter((at) => at < this.#startedAt).length;
    this.#counts.publicEvents += operations.reduce((sum, one) => sum + one.publicEvents.length, 0);
  }

  *#take(): Generator<Difference> {
    const found = this.#found;
    this.#found = [];
    this.#counts.differences += found.length;
    yield* found;
  }
}

/** A damaged stream that does not say of which fund it is belongs to the report of every fund. */
const isWanted = ({ fundId: of, differences }: AuditedStream, fundId: string | undefined): boolean =>
  fundId === undefined || of === fundId || (of === undefined && differences.length > 0);
