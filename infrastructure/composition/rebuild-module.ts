import type { Container } from 'inversify';
import { LOAN_STREAM_PREFIX } from '../../application/command-handling/stream-names.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { LogOrder } from '../../application/rebuild/log-order.ts';
import { RebuildProjection } from '../../application/rebuild/rebuild-projection.ts';
import { PoisonEventError, projectBatch } from '../../projections/engine/project-batch.ts';
import type { Projection, TableWrite } from '../../projections/engine/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { portfolioProjection } from '../../projections/portfolio/portfolio-projection.ts';
import { reconciliationProjection } from '../../projections/reconciliation/reconciliation-projection.ts';
import type { ProjectionsServices } from '../cli/projections-services.ts';
import { SqlProjectionCopies } from '../sql/projection-copies.ts';
import { toProjected } from './read-side.ts';
import { sleep } from './sleep.ts';
import { TOKENS } from './tokens.ts';

/** Every read model that can be built anew. */
export const allProjections: readonly Projection[] = [
  loanProjection,
  reconciliationProjection,
  portfolioProjection,
];

/** A service beside it writes to the same file, and SQLite lets whoever waits in only between two transactions. */
const BREATH_MS = 1;

/** A number in the embedded log, two in EventStoreDB; in both, the first says what came earlier. */
const numberOf = (position: LogPosition | 'start'): bigint =>
  position === 'start' ? 0n : BigInt(position.split('/', 1)[0]!);

const logOrder: LogOrder = {
  compare: (one, other) => {
    const [left, right] = [numberOf(one), numberOf(other)];
    return left < right ? -1 : left > right ? 1 : 0;
  },
  share: (done, whole) => Math.min(1, Number(numberOf(done)) / Math.max(1, Number(numberOf(whole)))),
};

const writesOf = (projection: Projection, events: readonly RecordedEvent[]): readonly TableWrite[] => {
  const { steps, poison } = projectBatch(projection, toProjected, events);
  if (poison) throw new PoisonEventError(poison.event, poison.cause);
  return steps.flatMap(({ writes }) => writes);
};

const never = new AbortController().signal;

/** What the command line needs to build read models anew. */
export const projectionsServices = (container: Container): ProjectionsServices => {
  const copies = new SqlProjectionCopies(container.get(TOKENS.readModelTables));
  const rebuilding = new RebuildProjection({
    log: container.get(TOKENS.eventSubscription),
    copies,
    writesOf,
    streamPrefix: LOAN_STREAM_PREFIX,
    order: logOrder,
    breathe: () => sleep(BREATH_MS, never),
    sleep: (ms) => sleep(ms, never),
  });
  const named = (name: string): Projection => {
    const found = allProjections.find((projection) => projection.name === name);
    if (!found) throw new RangeError(`there is no read model ${name}`);
    return found;
  };
  return {
    names: allProjections.map(({ name }) => name),
    show: async (name) => ({
      version: named(name).version,
      places: await copies.places(name),
      rows: await copies.rows(named(name)),
    }),
    rebuild: ({ name, ...request }) => rebuilding.execute({ ...request, projection: named(name) }),
    drop: (name) => copies.drop(named(name)),
  };
};
