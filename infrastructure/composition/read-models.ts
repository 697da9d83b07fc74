import { LOAN_STREAM_PREFIX } from '../../application/command-handling/operation.ts';
import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import { newestOperation } from '../../application/loans/operation-states.ts';
import type { Generations } from '../../application/maintenance/rebuild/generations.ts';
import type { Generation, Places } from '../../application/maintenance/rebuild/open-generation.ts';
import { RebuildReadModels } from '../../application/maintenance/rebuild/rebuild-read-models.ts';
import type { RebuildDependencies } from '../../application/maintenance/rebuild/rebuild-read-models.ts';
import { ServingReadModel } from '../../application/maintenance/rebuild/serving-read-model.ts';
import type { OnDamage } from '../../application/maintenance/rebuild/serving-read-model.ts';
import { DamagedStoreError } from '../../application/ports/event-store.ts';
import type {
  EventSubscription,
  RecordedEvent,
  StoredEvents,
  EventStore,
} from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { SqlWatch } from '../../application/ports/observation.ts';
import type { LogOrder } from '../../application/ports/read-models.ts';
import { misfit } from '../../application/processors/log-fit.ts';
import { numberOf, projectedEvent } from '../../application/projecting/projected-event.ts';
import { PUBLISHED } from '../../application/publication/catalogue.ts';
import { Outage, repeatUntilAborted } from '../../application/support/retry.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import type { ProjectedEvent, Projection } from '../../projections/projection.ts';
import { eventIndexProjection } from '../../projections/publication/event-index-projection.ts';
import { pause } from '../support/time.ts';
import { holdsEvents } from './log-fit.ts';

/** True for a log that finds events by their id, as the embedded one does. */
const findsById = <Log extends EventSubscription>(log: Log): log is Log & StoredEvents => 'byId' in log;

export const eventIndex = eventIndexProjection(PUBLISHED);

/** Every read model of a service on this log; together they are one generation. */
export const projectionsOn = (log: EventSubscription): readonly Projection[] =>
  findsById(log) ? [loanProjection] : [loanProjection, eventIndex];

/** The end of the log is handed to each follower as the same objects, so that the first one decodes for all of them. */
const decoded = new WeakMap<RecordedEvent, DomainEvent>();

const decodedOnce = (recorded: RecordedEvent): DomainEvent => {
  const known = decoded.get(recorded);
  if (known) return known;
  const event = decodeEvent(recorded);
  decoded.set(recorded, event);
  return event;
};

/** @throws UnreadableEventError for a type of a newer version: skipping it would break the order that is promised */
export const decodeRecorded = (recorded: RecordedEvent): LoanEvent => decodedOnce(recorded) as LoanEvent;

/** @throws UnreadableEventError for a type of a newer version: skipping it would leave rows that are wrong without a trace */
export const toProjected = (recorded: RecordedEvent): ProjectedEvent =>
  projectedEvent(recorded, decodedOnce(recorded));

const [EMBEDDED, OF_EVENTSTOREDB] = [/^\d+$/, /^\d+\/\d+$/];

export const logOrder: LogOrder = {
  comparable: (...places) =>
    [EMBEDDED, OF_EVENTSTOREDB].some((shape) =>
      places.every((place) => place === 'start' || shape.test(place)),
    ),
  compare: (one, other) => {
    const [left, right] = [numberOf(one), numberOf(other)];
    return left < right ? -1 : left > right ? 1 : 0;
  },
  share: (done, whole) => Math.min(1, Number(numberOf(done)) / Math.max(1, Number(numberOf(whole)))),
};

/** A service beside it may write to the same disk, and SQLite lets a waiting writer in only between two transactions. */
const BREATH_MS = 1;
const PROGRESS_EVERY_MS = 2_000;

export const rebuildOf = ({
  log,
  generations,
}: Pick<RebuildDependencies, 'log' | 'generations'>): RebuildReadModels =>
  new RebuildReadModels({
    log,
    generations,
    decode: toProjected,
    order: logOrder,
    breathe: () => pause(BREATH_MS),
    sleep: pause,
  });

interface Serving {
  readonly generations: Generations;
  readonly log: RebuildDependencies['log'];
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Looks at every table, and whether there is anything in them. */
  readonly thorough?: boolean;
  readonly watch?: SqlWatch | undefined;
  /** Of the embedded log, whose places are numbers that another log has, too. */
  readonly head?: EventStore['head'];
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

const build = async ({ generations, log, logger, signal }: Serving): Promise<void> => {
  const onProgress = progressIn(logger);
  const request = { force: true, signal, onProgress, onDifference: () => undefined };
  try {
    const { generation, events } = await rebuildOf({ generations, log }).execute(request);
    if (events > 0) logger.info({ generation, events }, 'the read models were built');
  } catch (error) {
    // What was begun is of no use where it is damaged: the next try begins anew.
    if (damageIn(error)) await generations.dropOld();
    throw error;
  }
};

const damageIn = (error: unknown): DamagedStoreError | undefined => {
  if (error instanceof DamagedStoreError) return error;
  return error instanceof Error && error.cause !== undefined ? damageIn(error.cause) : undefined;
};

const tellOfDamage =
  (logger: Logger): OnDamage =>
  (generation, error) =>
    logger.error(
      { event: 'read_model_damaged', generation, reason: error.message },
      'a generation of the read models is damaged and serves no more; another is built from the log, and `receivables projections drop-old` removes this one',
    );

/**
 * Rows never show more than the log has, unless they came with another one: a file that was left behind where data was put in its place.
 * A place that the log does not reach is no matter of the rows: the start is refused for it.
 * @throws DamagedStoreError
 */
const ensureOfThisLog = async (
  { number, database }: Generation,
  places: Places,
  { log, head }: Pick<Serving, 'log'> & Required<Pick<Serving, 'head'>>,
): Promise<void> => {
  for (const { position } of places.values()) if ((await misfit(log, position)) !== undefined) return;
  const newest = await newestOperation(database);
  const stored = newest && (await head(newest.stream));
  if (newest && (stored === 'no_stream' || stored! < newest.revision))
    throw new DamagedStoreError(
      `generation ${number} of the read models is of another event log: it shows event ${newest.revision} of ${newest.stream}, which is not in this one`,
    );
};

/** Whether what serves is there, whole as far as that can be seen at once, and of no older version than this program. */
const isSound = async ({ generations, log, thorough, head }: Serving): Promise<boolean> => {
  if (!(await rebuildOf({ generations, log }).upToDate())) return false;
  if (!thorough) return true;
  const number = await generations.serving();
  if (number === undefined) return false;
  await using generation = await generations.open(number);
  await generation.ensureTables(generations.projections);
  // What stands beside the operations leaves no place in a read model.
  const places = await generation.places();
  if (places.size === 0 && (await holdsEvents(log, LOAN_STREAM_PREFIX)))
    throw new DamagedStoreError(`generation ${number} of the read models is empty`);
  if (head) await ensureOfThisLog(generation, places, { log, head });
  return true;
};

/**
 * The read models as they serve. Where none do, as after a restore, or only damaged ones or those of an older version of the program,
 * a generation is built first.
 */
export const openServing = async (serving: Serving): Promise<ServingReadModel> => {
  const { generations, logger, watch } = serving;
  const onDamage = tellOfDamage(logger);
  const sound = await isSound(serving).catch(async (error: unknown) => {
    const [damage, number] = [damageIn(error), await generations.serving()];
    if (damage === undefined || number === undefined) throw error;
    if (await generations.quarantine(number)) onDamage(number, damage);
    return false;
  });
  if (!sound) await build(serving);
  return ServingReadModel.open(generations, onDamage, watch);
};

const LOOK_EVERY_MS = 1_000;
/** A disk that damages each of them is not filled with them. */
const REST_AFTER_BUILDING_MS = 30_000;

/**
 * Builds a generation whenever none serves any more, as where one was found damaged, or one of an older version, which a process of the
 * release before may have built then, while everything else goes on.
 */
export const keepServing = async (serving: Serving): Promise<void> => {
  const { generations, log, logger, signal } = serving;
  let found: number | undefined;
  const outage = new Outage({ logger, what: 'building the read models anew', longestPauseMs: 60_000 });
  const work = async (): Promise<number> => {
    const number = await generations.serving();
    if (number !== undefined && (number === found || (await rebuildOf({ generations, log }).upToDate()))) {
      found = number;
      return LOOK_EVERY_MS;
    }
    await build(serving);
    outage.over();
    return REST_AFTER_BUILDING_MS;
  };
  await repeatUntilAborted(work, (error) => outage.failed(error), pause, signal);
};
