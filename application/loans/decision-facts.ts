import { loanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import type { RejectionReason } from '../../domain/loan/events.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { LRUCache } from 'lru-cache';
import { sql } from 'kysely';
import { LOAN_STATUSES, hasEnded, isAwaited, owesSchedule } from '../../domain/loan/statuses.ts';
import type { ShownStatus } from '../../domain/loan/statuses.ts';
import { OWING } from './late-operations.ts';

interface Dependencies {
  readonly database: SqlDatabase;
  readonly privacy: () => Privacy;
}

const MOST_FUNDS = 8;
/** Of each fund, the rejected operations that came in last. */
const REJECTED_LOOKED_AT = 200;
const MOST_REASONS = 8;

/** Beside its price and its state, amounts in cents: of those that have rows, in no order. @param operations at most 1,000 */
export const operationFacts = async (
  { database, privacy }: Dependencies,
  operations: readonly OperationPlace[],
) => {
  if (operations.length === 0) return [];
  const streams = operations.map(({ applicationId, code }) => loanStream(applicationId, code));
  const rows = await database.read(
    database.builder
      .selectFrom('loan')
      .innerJoin('installment', 'installment.operation', 'loan.id')
      .select((eb) => [
        ...(['loan.application_id as applicationId', 'loan.code', 'loan.fund_id as fundId'] as const),
        ...(['loan.daily_factor as dailyFactor', 'loan.stream', 'loan.borrower'] as const),
        eb.fn.sum<number>('installment.face_value').as('faceValue'),
        eb.fn.countAll<number>().as('installments'),
        eb.fn.max<string>('installment.due_date').as('lastDue'),
      ])
      .where('loan.stream', 'in', streams)
      .groupBy('loan.id'),
  );
  return Promise.all(
    rows.map(async ({ stream, borrower, ...row }) => ({
      ...row,
      borrower: await privacy().maskedBorrower({ stream, borrower }),
    })),
  );
};
export type OperationFacts = Awaited<ReturnType<typeof operationFacts>>[number];

export const usedReasons = async (
  { database }: Pick<Dependencies, 'database'>,
  fundIds: readonly string[],
) => {
  const pages = await database.snapshot(
    fundIds
      .slice(0, MOST_FUNDS)
      .map((fundId) =>
        database.builder
          .selectFrom('loan')
          .select(['rejection_reasons', 'received_at'])
          .where('fund_id', '=', fundId)
          .where('status', '=', 'rejected')
          .orderBy('received_at', 'desc')
          .orderBy('stream', 'desc')
          .limit(REJECTED_LOOKED_AT),
      ),
  );
  const newest = pages.flat().sort((a, b) => (a.received_at < b.received_at ? 1 : -1));
  const given = newest.flatMap((row) => JSON.parse(row.rejection_reasons ?? '[]') as RejectionReason[]);
  const same = Map.groupBy(given, ({ code, message }) => JSON.stringify([code, message]));
  return [...same.values()]
    .map((uses) => ({ code: uses[0]!.code, message: uses[0]!.message, times: uses.length }))
    .sort((a, b) => b.times - a.times)
    .slice(0, MOST_REASONS);
};
export type UsedReason = Awaited<ReturnType<typeof usedReasons>>[number];

interface Together {
  readonly operations: number;
  readonly acquisitionValue: number;
}

interface Held {
  readonly active: Together;
  readonly waiting: Together;
}

export interface Exposure {
  readonly fundId: string;
  readonly originator: Held;
  /** Undefined once the borrower was forgotten, and where nobody may know of it. */
  readonly borrower?: Held & {
    /** Face values of active operations that are open; of one that is being repurchased nothing is. */
    readonly openFaceValue: number;
    readonly atLeast: boolean;
    /** Operations with the same borrower, as many installments, the same first and last day and the same sum. */
    readonly same: readonly (OperationPlace & {
      readonly fundId: string;
      readonly status: string;
      readonly acquisitionValue: number;
    })[];
  };
}

const isBefore = (status: ShownStatus): boolean => owesSchedule(status) && isAwaited(status);
const WAITING: readonly string[] = LOAN_STATUSES.filter(isBefore);
const ACTIVE: readonly string[] = LOAN_STATUSES.filter((status) => !isBefore(status) && !hasEnded(status));
const OWED = ACTIVE.filter((status) => OWING.includes(status));
/** Of a borrower with more, the sums say so. */
const MOST_OF_BORROWER = 1_000;
const MOST_SAME = 20;
/** An originator may have a hundred thousand operations: what they add up to is asked for once in a while, not for each page. */
const ORIGINATOR_KEPT_MS = 30_000;
const ORIGINATORS_KEPT = 1_000;

const NONE: Together = { operations: 0, acquisitionValue: 0 };
const added = (sum: Together, { operations, acquisitionValue }: Together): Together => ({
  operations: sum.operations + operations,
  acquisitionValue: sum.acquisitionValue + acquisitionValue,
});

interface Row extends Together {
  readonly status: string;
}
const heldIn = (rows: readonly Row[]): Held => {
  const among = (states: readonly string[]): Together =>
    rows.filter(({ status }) => states.includes(status)).reduce(added, NONE);
  return { active: among(ACTIVE), waiting: among(WAITING) };
};

const OPEN = sql<number>`sum(case when installment.status in ('pending', 'overdue') then installment.face_value else 0 end)`;

const rowsOf = (database: SqlDatabase, streams: readonly string[]) =>
  database.read(
    database.builder
      .selectFrom('loan')
      .innerJoin('installment', 'installment.operation', 'loan.id')
      .select((eb) => [
        ...(['loan.stream', 'loan.application_id as applicationId', 'loan.code'] as const),
        ...([
          'loan.fund_id as fundId',
          'loan.status',
          'loan.borrower',
          'loan.number_of_installments',
        ] as const),
        'loan.acquisition_value as acquisitionValue',
        eb.fn.sum<number>('installment.face_value').as('face_value'),
        OPEN.as('open_face_value'),
        eb.fn.min<string>('installment.due_date').as('first_due'),
        eb.fn.max<string>('installment.due_date').as('last_due'),
      ])
      .where('loan.stream', 'in', streams)
      .groupBy('loan.id'),
  );

type Found = Awaited<ReturnType<typeof rowsOf>>[number];

export class Exposures {
  readonly #database: SqlDatabase;
  readonly #privacy: () => Privacy;
  readonly #originators = new LRUCache<string, Promise<Held>>({
    max: ORIGINATORS_KEPT,
    ttl: ORIGINATOR_KEPT_MS,
  });

  constructor(database: SqlDatabase, privacy: () => Privacy) {
    this.#database = database;
    this.#privacy = privacy;
  }

  /** @param queryFor what may be told of operations of this fund, and of which funds; undefined: nothing */
  async of(
    operation: OperationPlace,
    queryFor: (
      fundId: string,
    ) =>
      { readonly withBorrower?: boolean; readonly onlyFundIds?: readonly string[] } | undefined = () => ({}),
  ): Promise<Exposure | undefined> {
    const [own] = await rowsOf(this.#database, [loanStream(operation.applicationId, operation.code)]);
    const query = own && queryFor(own.fundId);
    if (own === undefined || query === undefined) return undefined;
    const { withBorrower = true, onlyFundIds } = query;
    const { fundId, applicationId } = own;
    const [originator, borrower] = await Promise.all([
      this.#originator(applicationId, fundId),
      withBorrower ? this.#borrower(own, onlyFundIds) : undefined,
    ]);
    return { fundId, originator, ...(borrower && { borrower }) };
  }

  async #borrower(own: Found, onlyFundIds: readonly string[] | undefined): Promise<Exposure['borrower']> {
    const privacy = this.#privacy();
    const streams = await privacy.streamsOfSame(own, MOST_OF_BORROWER + 1);
    if (streams === undefined) return undefined;
    const others = streams.filter((stream) => stream !== own.stream).slice(0, MOST_OF_BORROWER);
    const found = others.length === 0 ? [] : await rowsOf(this.#database, others);
    const digests = await privacy.tell([own, ...found.slice(0, MOST_OF_BORROWER - 1)]);
    const rows = found.filter(
      ({ stream, fundId }) =>
        digests.get(stream) === digests.get(own.stream) &&
        (onlyFundIds === undefined || onlyFundIds.includes(fundId)),
    );
    const inFund = rows.filter(({ fundId }) => fundId === own.fundId);
    return {
      ...heldIn(inFund.map((row) => ({ ...row, operations: 1 }))),
      openFaceValue: inFund
        .filter(({ status }) => OWED.includes(status))
        .reduce((sum, row) => sum + row.open_face_value, 0),
      atLeast: streams.length > MOST_OF_BORROWER,
      same: rows
        .filter((row) => isSame(row, own))
        .slice(0, MOST_SAME)
        .map(({ applicationId, code, fundId, status, acquisitionValue }) => ({
          ...{ applicationId, code, fundId, status, acquisitionValue },
        })),
    };
  }

  #originator(applicationId: string, fundId: string): Promise<Held> {
    const key = JSON.stringify([applicationId, fundId]);
    const kept = this.#originators.get(key);
    if (kept) return kept;
    const asked = this.#ofOriginator(applicationId, fundId);
    this.#originators.set(key, asked);
    asked.catch(() => this.#originators.delete(key));
    return asked;
  }

  async #ofOriginator(applicationId: string, fundId: string): Promise<Held> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('loan')
        .select((eb) => [
          'status',
          eb.fn.countAll<number>().as('operations'),
          eb.fn.sum<number>('acquisition_value').as('acquisitionValue'),
        ])
        .where('application_id', '=', applicationId)
        .where('fund_id', '=', fundId)
        .where('status', 'in', [...ACTIVE, ...WAITING])
        .groupBy('status'),
    );
    return heldIn(rows);
  }
}

const isSame = (one: Found, other: Found): boolean =>
  one.number_of_installments === other.number_of_installments &&
  one.face_value === other.face_value &&
  one.first_due === other.first_due &&
  one.last_due === other.last_due;
