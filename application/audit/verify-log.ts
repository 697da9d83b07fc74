import { DECISION_STREAM_PREFIX, FOUR_EYES_STREAM } from '../command-handling/operation.ts';
import type { AuditNotes, StreamHead, AuditProgress } from './audit-notes.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import { SealCheck } from './seals/check-seals.ts';
import type { SealPlace, SealStores } from './seals/check-seals.ts';
import { checkAnchor, checkVanished } from './anchor.ts';
import type { Anchor } from './anchor.ts';
import { AuditBatch } from './audit-batch.ts';
import { earlierProgress } from './audit-notes.ts';
import type { AuditStores, AuditedStream } from './audit-batch.ts';
import { PairedClaims, askedClaims } from './check-claims.ts';
import type { ClaimCheck, ClaimLog } from './check-claims.ts';
import { checkDocuments, placedRows } from './operation-audit.ts';
import type { Difference, Report } from './difference.ts';
import { AuditedStreams, LogWalk } from './log-walk.ts';
import type { OperationAudit } from './operation-audit.ts';
import { Orphans } from './orphans.ts';
import { SettledRows } from './settled-rows.ts';
import type { ReadModel } from './settled-rows.ts';

interface Dependencies extends AuditStores {
  readonly subscription: EventSubscription;
  readonly claimLog?: ClaimLog;
  readonly readModels: readonly ReadModel[];
  readonly seals: SealStores;
  readonly documents: Pick<DocumentStore, 'open'>;
  readonly clock: BusinessClock;
}

export interface VerifyRequest {
  readonly fundId?: string;
  readonly anchor?: Pick<Anchor, 'takenAt' | 'seal'>;
  readonly documents?: boolean;
  readonly notes: AuditNotes;
  readonly progress?: (events: number) => void;
  /** Aborted: it throws the signal's reason as soon as what is under way has come to its end. */
  readonly signal?: AbortSignal;
}

/** `frozenEvents` are the public ones that the delivery log still holds, `documents` the files that were read. */
export interface VerifySummary extends Readonly<AuditProgress['counts']> {
  readonly seals: SealCheck['coverage'];
  readonly seal: SealPlace | undefined;
  readonly heads: () => Generator<StreamHead>;
}

const STREAMS_AT_ONCE = 100;
const BATCHES_AT_ONCE = 4;
/** After so many, all that is under way is brought to its end and saved, where the notes are kept. */
const BATCHES_BETWEEN_SAVES = 20;
/** So often the log is asked for what is known to stand in it. */
const MOST_WALKS = 5;

/** What must be the same for an audit to go on. */
const requestText = ({ fundId, anchor, documents }: VerifyRequest): string =>
  JSON.stringify([fundId, anchor, ...(documents ? ['documents'] : [])]);

export async function* verifyLog(
  dependencies: Dependencies,
  request: VerifyRequest,
): AsyncGenerator<Difference, VerifySummary> {
  const run = new Run(dependencies, request);
  yield* run.verify();
  return run.summary();
}

class Run {
  readonly #deps: Dependencies;
  readonly #batch: AuditBatch;
  readonly #request: VerifyRequest;
  readonly #streams: AuditedStreams;
  readonly #rows: SettledRows;
  readonly #seals: SealCheck;
  readonly #claims: ClaimCheck;
  readonly #earlier: AuditProgress | undefined;
  readonly #startedAt: string;
  #at: LogPosition | 'start';
  #frozenEarlier = 0;
  #found: Difference[] = [];
  readonly #report: Report = (difference) => void this.#found.push(difference);
  readonly #counts: AuditProgress['counts'] = {
    events: 0,
    streams: 0,
    publicEvents: 0,
    frozenEvents: 0,
    documents: 0,
    differences: 0,
  };

  constructor(deps: Dependencies, request: VerifyRequest) {
    const { notes, anchor } = request;
    this.#deps = deps;
    this.#batch = new AuditBatch(deps);
    this.#request = request;
    this.#earlier = earlierProgress(notes, requestText(request));
    this.#startedAt = this.#earlier?.startedAt ?? deps.clock.now();
    this.#at = this.#earlier?.at ?? 'start';
    this.#frozenEarlier = this.#earlier?.frozenEarlier ?? 0;
    Object.assign(this.#counts, this.#earlier?.counts);
    this.#streams = new AuditedStreams(notes);
    this.#rows = new SettledRows({ ...deps, batch: this.#batch });
    this.#seals = new SealCheck({ ...deps.seals, report: this.#report }, anchor?.seal);
    const { claimLog: log, events: store, sleep } = deps;
    this.#claims = log
      ? new PairedClaims({ log, store, notes, sleep }, this.#earlier?.claimsAt ?? 'start')
      : askedClaims(store);
  }

  summary(): VerifySummary {
    const { coverage: seals, head: seal } = this.#seals;
    return { ...this.#counts, seals, seal, heads: () => this.#streams.heads() };
  }

  async *verify(): AsyncGenerator<Difference> {
    try {
      yield* this.#everything();
    } finally {
      await this.#claims.stop();
    }
  }

  async *#everything(): AsyncGenerator<Difference> {
    // What was found before the stop belongs to the report as well, and is counted already.
    for (const text of this.#request.notes.differences()) yield JSON.parse(text) as Difference;
    this.#request.progress?.(this.#counts.events);
    await this.#rows.prepare(this.#report);
    await this.#seals.start(this.#earlier?.seals);
    const walk = new LogWalk(this.#deps, this.#beginning());
    const pending: Promise<void>[] = [];
    let sinceSave = 0;
    try {
      for await (const streams of this.#newStreams(walk)) {
        this.#request.signal?.throwIfAborted();
        const batch = this.#verifyBatch(streams);
        // Heard of in its turn: until then a failure must not be one that nobody hears.
        batch.catch(() => undefined);
        pending.push(batch);
        const saving = this.#request.notes.isKept && ++sinceSave >= BATCHES_BETWEEN_SAVES;
        while (pending.length > (saving ? 0 : BATCHES_AT_ONCE - 1)) await pending.shift();
        yield* this.#take();
        if (!saving) continue;
        this.#save();
        sinceSave = 0;
      }
      for (const batch of pending) await batch;
    } finally {
      // The stores and the notes may be closed after this.
      await Promise.allSettled(pending);
    }
    yield* this.#take();
    yield* this.#afterwards(walk);
  }

  /** Seals cover stretches of the log, so the events of the one that was under way come by once more. */
  #beginning(): LogPosition | 'start' {
    const { numberOf } = this.#deps.seals;
    const { after } = this.#seals.progress;
    return this.#earlier && numberOf(after) < numberOf(this.#at) ? after : this.#at;
  }

  #save(): void {
    const progress: AuditProgress = {
      request: requestText(this.#request),
      startedAt: this.#startedAt,
      at: this.#at,
      claimsAt: this.#claims.at,
      seals: this.#seals.progress,
      frozenEarlier: this.#frozenEarlier,
      counts: this.#counts,
    };
    this.#request.notes.save(JSON.stringify(progress));
  }

  async *#afterwards(walk: LogWalk): AsyncGenerator<Difference> {
    const orphans = new Orphans({ ...this.#deps, streams: this.#streams, report: this.#report });
    const { notes } = this.#request;
    for await (const streams of orphans.unseenStreams(notes.heads())) {
      for (const stream of streams) this.#streams.add(stream);
      await this.#verifyBatch(streams);
      yield* this.#take();
    }
    // The streams were read after the log had shown them, so they may hold more than it showed then.
    await this.#walkOn(walk);
    // A log that never says where it ends is believed once it is silent, which a busy one may be before its end.
    for (let walks = 1; walks < MOST_WALKS && (this.#seals.isBehind || this.#streams.areBehind); walks += 1)
      await this.#walkOn(walk);
    this.#request.signal?.throwIfAborted();
    await this.#seals.end();
    for await (const differences of this.#claims.end()) {
      differences.forEach(this.#report);
      yield* this.#take();
    }
    this.#streams.checkLog(this.#report);
    if (this.#request.fundId === undefined) {
      await orphans.checkRows(this.#rows.comparable);
      await orphans.checkDeliveries(this.#startedAt, this.#frozenEarlier);
    }
    checkVanished(notes.heads(), this.#streams, this.#report);
    yield* this.#take();
  }

  async #walkOn(walk: LogWalk): Promise<void> {
    for await (const events of walk.toTheEnd()) {
      await this.#seals.meet(events);
      for (const event of events)
        if (this.#streams.has(event.stream)) this.#streams.meet(event, this.#report);
    }
  }

  async *#newStreams(walk: LogWalk): AsyncGenerator<readonly string[]> {
    let some: string[] = [];
    for await (const events of walk.toTheEnd()) {
      await this.#seals.meet(this.#behind(this.#earlier?.seals.after, events));
      for (const event of this.#behind(this.#earlier?.at, events)) {
        this.#at = event.position;
        if (this.#streams.meet(event, this.#report)) some.push(event.stream);
        if (some.length < STREAMS_AT_ONCE) continue;
        yield some;
        some = [];
      }
    }
    if (some.length > 0) yield some;
  }

  #behind(
    place: LogPosition | 'start' | undefined,
    events: readonly RecordedEvent[],
  ): readonly RecordedEvent[] {
    if (place === undefined || place === 'start') return events;
    const { numberOf } = this.#deps.seals;
    const seen = numberOf(place);
    return events.filter(({ position }) => numberOf(position) > seen);
  }

  async #verifyBatch(streams: readonly string[]): Promise<void> {
    const { fundId, notes, progress } = this.#request;
    const audited = await this.#batch.audit(streams);
    const wanted = audited.filter((one) => isWanted(one, fundId));
    const claims = await Promise.all(wanted.map((one) => this.#checkClaims(one)));
    for (const [index, { stream, events, differences, operation }] of wanted.entries()) {
      [...differences, ...claims[index]!].forEach(this.#report);
      if (operation || events.length > 0) this.#streams.verified(stream, events, placedRows(operation));
      checkAnchor(notes.head(stream), events, this.#report);
    }
    const operations = wanted.flatMap(({ operation }) => (operation ? [operation] : []));
    await Promise.all([this.#rows.compare(operations, this.#report), this.#compareDeliveries(operations)]);
    if (this.#request.documents) {
      const read = await checkDocuments(this.#deps, operations, this.#report, this.#request.signal);
      this.#counts.documents += read;
    }
    const events = wanted.reduce((sum, one) => sum + one.events.length, 0);
    this.#counts.events += events;
    this.#counts.streams += wanted.length;
    progress?.(audited.reduce((sum, one) => sum + one.events.length, 0));
  }

  async #checkClaims({ stream, events, operation }: AuditedStream): Promise<readonly Difference[]> {
    const usesKeys = operation || stream === FOUR_EYES_STREAM || stream.startsWith(DECISION_STREAM_PREFIX);
    return usesKeys ? this.#claims.check(stream, events) : [];
  }

  async #compareDeliveries(operations: readonly OperationAudit[]): Promise<void> {
    const { differences, matched } = await this.#batch.compareDeliveries(operations);
    differences.forEach(this.#report);
    this.#counts.frozenEvents += matched.length;
    this.#frozenEarlier += matched.filter((at) => at < this.#startedAt).length;
    this.#counts.publicEvents += operations.reduce((sum, one) => sum + one.publicEvents.length, 0);
  }

  *#take(): Generator<Difference> {
    const { notes } = this.#request;
    const found = this.#found.filter((one) => !notes.isKept || notes.noteDifference(JSON.stringify(one)));
    this.#found = [];
    this.#counts.differences += found.length;
    yield* found;
  }
}

/** A damaged stream that does not say of which fund it is belongs to the report of every fund. */
const isWanted = ({ fundId: of, differences }: AuditedStream, fundId: string | undefined): boolean =>
  fundId === undefined || of === fundId || (of === undefined && differences.length > 0);
