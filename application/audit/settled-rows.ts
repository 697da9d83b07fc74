import { messageOf } from '../support/failures.ts';
import type { AuditBatch, AuditStores } from './audit-batch.ts';
import { telling } from './difference.ts';
import type { Difference, Report } from './difference.ts';
import type { OperationAudit } from './operation-audit.ts';

export interface ReadModel {
  readonly name: string;
  readonly tables: readonly string[];
  /** Resolves when it holds everything that was stored before the call. @throws Error when it cannot */
  catchUp(): Promise<void>;
}

interface Dependencies extends Pick<AuditStores, 'events'> {
  readonly batch: AuditBatch;
  readonly readModels: readonly ReadModel[];
}

/** So often an operation may change under the comparison before that is said instead. */
const MOST_LOOKS = 8;
const CERTAIN_AFTER = 2;

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

  /** Brings the read models to the end of the log; one that cannot be is reported and left out. */
  async prepare(report: Report): Promise<void> {
    const keepingUp: ReadModel[] = [];
    for (const model of this.#deps.readModels) {
      try {
        await model.catchUp();
        keepingUp.push(model);
      } catch (error) {
        const tell = telling(report, 'read_model', { stream: '', revision: null });
        tell(model.name, 'rows up to the end of the log', messageOf(error));
      }
    }
    this.#comparable = keepingUp;
  }

  async compare(operations: readonly OperationAudit[], report: Report): Promise<void> {
    const tables = this.comparable;
    let differing = await this.#deps.batch.compareRows(operations, tables);
    const seen = new Map<string, number>();
    for (let look = 1; differing.size > 0; look += 1) {
      const again = await this.#lookAgain([...differing.keys()], tables);
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

  /** One at a time: batches share the followers. What cannot catch up now leaves its differences as they are. */
  #catchUp(): Promise<void> {
    this.#catchingUp = this.#catchingUp.then(async () => {
      for (const model of this.#comparable) await model.catchUp().catch(() => undefined);
    });
    return this.#catchingUp;
  }

  async #lookAgain(streams: readonly string[], tables: readonly string[]) {
    const { batch, events } = this.#deps;
    const audited = await batch.audit(streams);
    await this.#catchUp();
    const operations = audited.flatMap(({ operation }) => (operation ? [operation] : []));
    const differing = new Map<string, readonly Difference[]>(await batch.compareRows(operations, tables));
    const moved = new Set<string>();
    for (const { stream, events: read } of operations) {
      const head = await events.head(stream);
      if ((head === 'no_stream' ? 0 : Number(head) + 1) !== read.length) moved.add(stream);
    }
    return { differing, moved };
  }
}
