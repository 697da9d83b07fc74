import type { EventSubscription } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { RebuildReadModels } from '../../application/rebuild/rebuild-read-models.ts';
import type { RebuildDependencies } from '../../application/rebuild/rebuild-read-models.ts';
import type { SqlGenerations } from '../sql/read-models/generations.ts';
import { ServingReadModel } from '../sql/read-models/serving-read-model.ts';
import { pause } from '../support/time.ts';
import { logOrder, projectionsOn, toProjected } from './projections.ts';

/** A service beside it may write to the same disk, and SQLite lets a waiting writer in only between two transactions. */
const BREATH_MS = 1;
const PROGRESS_EVERY_MS = 2_000;

const never = new AbortController().signal;

export const rebuildOf = ({
  log,
  generations,
}: Pick<RebuildDependencies, 'log' | 'generations'>): RebuildReadModels =>
  new RebuildReadModels({
    projections: projectionsOn(log),
    log,
    generations,
    decode: toProjected,
    order: logOrder,
    breathe: () => pause(BREATH_MS, never),
    sleep: (ms) => pause(ms, never),
  });

interface Serving {
  readonly generations: SqlGenerations;
  readonly log: EventSubscription;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Says how far it is, now and then: a large log takes minutes. */
const progressIn = (logger: Logger): ((share: number) => void) => {
  let said = performance.now();
  return (share) => {
    if (performance.now() - said < PROGRESS_EVERY_MS) return;
    said = performance.now();
    logger.info({ percent: Math.floor(share * 100) }, 'the read models are being built');
  };
};

/**
 * The read models as they serve. Where none do, as after a restore, or only those of an older version of the program, a generation
 * is built first.
 */
export const openServing = async ({
  generations,
  log,
  logger,
  signal,
}: Serving): Promise<ServingReadModel> => {
  const rebuild = rebuildOf({ generations, log });
  if (!(await rebuild.upToDate())) {
    const onProgress = progressIn(logger);
    const request = { force: true, signal, onProgress, onDifference: () => undefined };
    const { generation, events } = await rebuild.execute(request);
    if (events > 0) logger.info({ generation, events }, 'the read models were built');
  }
  return ServingReadModel.open(generations);
};
