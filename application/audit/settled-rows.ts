import { StoreUnavailableError } from '../ports/event-store.ts';
import type { LogPosition } from '../ports/event-store.ts';
import { messageOf } from '../support/failures.ts';
import { isAway } from './audit-batch.ts';
import type { AuditBatch, AuditStores } from './audit-batch.ts';
import { telling } from './difference.ts';
import type { Difference, Report } from './difference.ts';
import type { OperationAudit } from './operation-audit.ts';
import type { SealStores } from './seals/check-seals.ts';

export interface ReadModel {
  readonly name: string;
  readonly tables: readonly string[];
  /** Resolves when it holds everything that was stored before the call, as far as the log says where it ends. @throws Error when it cannot */
  catchUp(): Promise<void>;
  /** Up to here it holds what was stored. */
  place(): Promise<LogPosition | 'start'>;
}

interface Dependencies extends Pick<AuditStores, 'events'> {
  readonly batch: AuditBatch;
  readonly readModels: readonly ReadModel[];
  readonly seals: Pick<SealStores, 'numberOf'>;
}

/** So often an operation may change under the comparison before that is said instead. */
const MOST_LOOKS = 8;
const CERTAIN_AFTER = 2;
/** A log that never says where it ends is believed once it is silent, which a busy one may be before its end. */
const MOST_CATCH_UPS = 10;

/** What differs is looked at again with a read model that has caught up, until it agrees or that explains nothing. */
export class SettledRows {
  readonly #deps: Dependencies;
  #comparable: readonly ReadModel[] = [];
  #catchingUp = Promise.resolve();

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  get comparable(): readonly string[] {
    return this.#comparable.flatMap(({ tables }) => tables);
  }

  /** Brings the read models to the end of the log. @throws StoreUnavailableError they, or the log, cannot be read now */
  async prepare(report: Report): Promise<void> {
    this.#comparable = this.#deps.readModels;
    await this.#catchUp([], report);
  }

  async compare(operations: readonly OperationAudit[], report: Report): Promise<void> {
    let differing = await this.#deps.batch.compareRows(operations, this.comparable);
    const seen = new Map<string, number>();
    for (let look = 1; differing.size > 0; look += 1) {
      const again = await this.#lookAgain([...differing.keys()], report);
      for (const [stream, differences] of again.differing) {
        const times = (seen.get(stream) ?? 0) + (again.moved.has(stream) ? 0 : 1);
        seen.set(stream, times);
        if (times < CERTAIN_AFTER && look < MOST_LOOKS) continue;
        again.differing.delete(stream);
        differences.forEach(report);
      }
      differing = again.differing;
    }
  }

  /** One at a time: batches share the followers. A model that cannot be brought up to these is reported and left out. */
  #catchUp(operations: readonly OperationAudit[], report: Report): Promise<void> {
    const work = async (): Promise<void> => {
      for (const model of this.#comparable) {
        try {
          await this.#bringUpTo(operations, model);
        } catch (error) {
          // Nothing can be read: that says nothing of the rows.
          if (isAway(error)) throw error;
          this.#comparable = this.#comparable.filter((one) => one !== model);
          const tell = telling(report, 'read_model', { stream: '', revision: null });
          tell(model.name, 'rows up to the end of the log', messageOf(error));
        }
      }
    };
    this.#catchingUp = this.#catchingUp.catch(() => undefined).then(work);
    return this.#catchingUp;
  }

  async #bringUpTo(operations: readonly OperationAudit[], model: ReadModel): Promise<void> {
    const { numberOf } = this.#deps.seals;
    for (let tries = 0; tries < MOST_CATCH_UPS; tries += 1) {
      await model.catchUp();
      const place = numberOf(await model.place());
      if (operations.every(({ events }) => numberOf(events.at(-1)?.position ?? 'start') <= place)) return;
    }
    throw new StoreUnavailableError(
      `the event log gave the read model ${model.name} ${MOST_CATCH_UPS} times less than it holds`,
    );
  }

  async #lookAgain(streams: readonly string[], report: Report) {
    const { batch, events } = this.#deps;
    const audited = await batch.audit(streams);
    const operations = audited.flatMap(({ operation }) => (operation ? [operation] : []));
    await this.#catchUp(operations, report);
    const differing = new Map<string, readonly Difference[]>(
      await batch.compareRows(operations, this.comparable),
    );
    const moved = new Set<string>();
    for (const { stream, events: read } of operations) {
      const head = await events.head(stream);
      if ((head === 'no_stream' ? 0 : Number(head) + 1) !== read.length) moved.add(stream);
    }
    return { differing, moved };
  }
}
