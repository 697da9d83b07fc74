import type { Kysely } from 'kysely';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import { StoreUnavailableError } from '../ports/event-store.ts';
import type { LogPosition } from '../ports/event-store.ts';
import { whileItsKeyWraps, SqlWrappedTexts } from '../coordination/key-store.ts';
import type { WrappedTexts } from '../coordination/key-store.ts';
import { alone, notAlone } from '../sql/engine.ts';
import { GuardFailedError } from '../sql/sql-database.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase, Statement } from '../sql/sql-database.ts';
import { EnqueueStatements, GIVING_EVENTS } from './queue/enqueue.ts';
import type { WebhookEvent } from './queue/enqueue.ts';
import { cancellation } from './queue/range-redeliveries.ts';
import { preparedList } from '../sql/prepared-query.ts';
import type { LogOrder } from '../ports/read-models.ts';

type WebhookStatus = 'active' | 'paused';

export interface WebhookSubscription {
  readonly webhookId: string;
  readonly applicationId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly fundIds: readonly string[] | null;
  readonly description: string | null;
  readonly status: WebhookStatus;
  readonly createdAt: string;
  /** Place in the log behind which events are sent to it; null for one that an earlier release made. */
  readonly beginsAt: LogPosition | 'start' | null;
  /** Business time from which on events are sent to it, where it or the event has no place in the log. */
  readonly eventsFrom: string;
  readonly updatedAt: string;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  /** Start of the present run of failures; null while deliveries succeed. */
  readonly failingSince: string | null;
}

export interface NewSubscription extends Pick<
  WebhookSubscription,
  'webhookId' | 'applicationId' | 'url' | 'events' | 'fundIds' | 'description' | 'createdAt'
> {
  readonly sealedSecret: string;
  readonly eventsFrom?: string;
  readonly beginsAt?: LogPosition | 'start';
  readonly ping?: WebhookEvent;
}

/** Only what is present changes. */
export interface SubscriptionChange extends Partial<
  Pick<WebhookSubscription, 'url' | 'events' | 'fundIds' | 'description' | 'status'>
> {
  readonly sealedSecret?: string;
}

/** Columns that a subscription is read with: its secret is none of them. */
export const VISIBLE = [
  ...(['webhook_id as webhookId', 'application_id as applicationId', 'url', 'events'] as const),
  ...(['fund_ids as fundIds', 'description', 'status', 'created_at as createdAt'] as const),
  ...(['events_from as eventsFrom', 'begins_at as beginsAt', 'updated_at as updatedAt'] as const),
  ...(['last_success_at as lastSuccessAt', 'last_failure_at as lastFailureAt'] as const),
  'failing_since as failingSince',
] as const;
type AsStored = 'events' | 'fundIds' | 'status' | 'eventsFrom' | 'beginsAt';
interface VisibleRow extends Omit<WebhookSubscription, AsStored> {
  readonly events: string;
  readonly fundIds: string | null;
  readonly status: string;
  readonly eventsFrom: string | null;
  readonly beginsAt: string | null;
}

const listText = (list: readonly string[] | null): string | null =>
  list === null ? null : JSON.stringify(list);

export const subscriptionOf = (row: VisibleRow): WebhookSubscription => ({
  ...row,
  events: JSON.parse(row.events) as string[],
  fundIds: row.fundIds === null ? null : (JSON.parse(row.fundIds) as string[]),
  status: row.status as WebhookStatus,
  // Where there is none, no clock had been moved yet.
  eventsFrom: row.eventsFrom ?? row.createdAt,
  beginsAt: row.beginsAt as WebhookSubscription['beginsAt'],
});

/** What a noted place of the filter is about; another release may change the columns and leave the note. */
export const heldFilter = ({ events, fundIds }: Pick<VisibleRow, 'events' | 'fundIds'>): string =>
  `${events}\n${fundIds ?? ''}`;

const columnsOf = ({ events, fundIds, sealedSecret, ...same }: SubscriptionChange) => ({
  ...same,
  ...(events && { events: JSON.stringify(events) }),
  ...(fundIds !== undefined && { fund_ids: listText(fundIds) }),
  ...(sealedSecret !== undefined && { sealed_secret: sealedSecret }),
});

/** Who asks: a client, for what is its application's, or an operator, for a webhook of any application. */
export type WebhookCaller = Pick<RequestContext, 'applicationId' | 'onlyFundIds'> | 'operator';

export const noWebhook = (webhookId: string): DomainError =>
  new DomainError('webhook_not_found', `there is no webhook ${webhookId}`);

/** @throws DomainError `webhook_invalid_state` */
export const requireActive = ({ status, webhookId }: WebhookSubscription): void => {
  if (status === 'paused')
    throw new DomainError('webhook_invalid_state', `webhook ${webhookId} is paused: resume it first`);
};

export const secretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;

export const webhookSecrets = (database: SqlDatabase): WrappedTexts =>
  new SqlWrappedTexts(database, {
    table: 'webhook_subscription',
    name: 'webhook_id',
    wrapped: 'sealed_secret',
  });

const anotherKeyWraps = (cause: unknown): StoreUnavailableError =>
  new StoreUnavailableError('the master key was changed in this moment: try again', { cause });

const present = (builder: Kysely<Schema>) =>
  builder.selectFrom('webhook_subscription').select(VISIBLE).where('status', '<>', 'removed');

/** Subscriptions of all applications. Durable when a call resolves; a removed one is gone for every method at once. */
export class WebhookSubscriptions {
  readonly #database: SqlDatabase;
  readonly #enqueue: EnqueueStatements;
  readonly #ofApplications;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#enqueue = new EnqueueStatements(database.builder);
    this.#ofApplications = preparedList((applicationIds) =>
      present(database.builder)
        .where('application_id', 'in', applicationIds)
        .orderBy('created_at')
        .orderBy('webhook_id'),
    );
  }

  /** False, and nothing stored, when the application has `limit` of them already. */
  async add(subscription: NewSubscription, limit: number): Promise<boolean> {
    const { webhookId, applicationId, createdAt, ping } = subscription;
    const wraps = whileItsKeyWraps(this.#database, subscription.sealedSecret);
    const statements = [
      ...wraps,
      ...alone(this.#database, `webhook subscriptions of ${applicationId}`),
      ...notAlone(this.#database, GIVING_EVENTS),
      this.#insertBelow(limit, subscription),
    ];
    if (ping) statements.push(...this.#enqueue.inLanes([{ webhookId, event: ping }], createdAt).statements);
    try {
      await this.#database.transaction(statements);
      return true;
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      if (wraps.includes(statements[error.index]!)) throw anotherKeyWraps(error);
      return false;
    }
  }

  /** Counts and inserts in one transaction under a lock of the application, so that two requests at once cannot both be the last one. */
  #insertBelow(limit: number, { applicationId, ...subscription }: NewSubscription): Statement {
    const { builder } = this.#database;
    const existing = builder
      .selectFrom('webhook_subscription as other')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('other.application_id', '=', applicationId)
      .where('other.status', '<>', 'removed');
    const row = {
      webhook_id: subscription.webhookId,
      application_id: applicationId,
      url: subscription.url,
      events: JSON.stringify(subscription.events),
      fund_ids: listText(subscription.fundIds),
      description: subscription.description,
      status: 'active',
      sealed_secret: subscription.sealedSecret,
      created_at: subscription.createdAt,
      events_from: subscription.eventsFrom ?? subscription.createdAt,
      begins_at: subscription.beginsAt ?? null,
      updated_at: subscription.createdAt,
    };
    const columns = Object.keys(row) as (keyof typeof row)[];
    const below = builder
      .selectFrom(existing.as('existing'))
      .select((eb) => columns.map((column) => eb.val(row[column]).as(column)))
      .where('existing.count', '<', limit);
    const insert = builder.insertInto('webhook_subscription').columns(columns).expression(below);
    return { query: insert.compile(), expectChanges: 1 };
  }

  /** What belongs to another application does not exist for a client. */
  async find(caller: WebhookCaller, webhookId: string): Promise<WebhookSubscription | undefined> {
    const all = present(this.#database.builder).where('webhook_id', '=', webhookId);
    const own = caller === 'operator' ? all : all.where('application_id', '=', caller.applicationId);
    const [row] = await this.#database.read(own);
    return row && subscriptionOf(row);
  }

  /** @throws DomainError `webhook_not_found` */
  async existing(caller: WebhookCaller, webhookId: string): Promise<WebhookSubscription> {
    const found = await this.find(caller, webhookId);
    if (!found) throw noWebhook(webhookId);
    return found;
  }

  /** Oldest first; never from a cache, so that one added a moment ago is in it. */
  async ofApplications(applicationIds: readonly string[]): Promise<readonly WebhookSubscription[]> {
    if (applicationIds.length === 0) return [];
    const rows = await this.#database.read(this.#ofApplications(applicationIds, {}));
    return rows.map(subscriptionOf);
  }

  /** `undefined` when there is none. A change that changes nothing is one all the same. */
  async update(
    applicationId: string,
    webhookId: string,
    change: SubscriptionChange,
    at: string,
  ): Promise<WebhookSubscription | undefined> {
    const query = this.#database.builder
      .updateTable('webhook_subscription')
      .set({ ...columnsOf(change), updated_at: at })
      .where('application_id', '=', applicationId)
      .where('webhook_id', '=', webhookId)
      .where('status', '<>', 'removed')
      .returning(VISIBLE);
    const wraps =
      change.sealedSecret === undefined ? [] : whileItsKeyWraps(this.#database, change.sealedSecret);
    const changing = this.#database.transaction([...wraps, { query: query.compile() }]);
    const results = await changing.catch((error: unknown) => {
      throw error instanceof GuardFailedError ? anotherKeyWraps(error) : error;
    });
    const row = results.at(-1)?.rows[0] as VisibleRow | undefined;
    return row && subscriptionOf(row);
  }

  /** For whoever compares deliveries with the log later. Nothing happens where it asks for something else by now. */
  async noteFilter(
    { webhookId, events, fundIds }: Pick<WebhookSubscription, 'webhookId' | 'events' | 'fundIds'>,
    from: LogPosition | 'start',
  ): Promise<void> {
    const filter = { events: JSON.stringify(events), fundIds: listText(fundIds) };
    const query = this.#database.builder
      .updateTable('webhook_subscription')
      .set({ filter_from: from, filter_held: heldFilter(filter) })
      .where('webhook_id', '=', webhookId)
      .where('events', '=', filter.events)
      .where('fund_ids', filter.fundIds === null ? 'is' : '=', filter.fundIds);
    await this.#database.transaction([{ query: query.compile() }]);
  }

  /** False when there is none. What waits for it is cancelled. */
  async remove(applicationId: string, webhookId: string, at: string): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('webhook_subscription')
      .set({ status: 'removed', sealed_secret: '', updated_at: at })
      .where('application_id', '=', applicationId)
      .where('webhook_id', '=', webhookId)
      .where('status', '<>', 'removed');
    const [result] = await this.#database.transaction([
      { query: query.compile() },
      { query: cancellation(this.#database.builder, at, webhookId) },
    ]);
    return result!.changes > 0;
  }
}

const COLUMNS = ['begins_at', 'filter_from'] as const;

/** Answers how many subscriptions had a place behind the end of the log, which is their place now. */
export const beginWithin = async (
  database: SqlDatabase,
  order: Pick<LogOrder, 'compare' | 'comparable'>,
  end: LogPosition | 'start',
): Promise<number> => {
  const { builder } = database;
  const isBeyond = (noted: string | null): boolean => {
    const place = noted as LogPosition | 'start' | null;
    return place !== null && order.comparable(place, end) && order.compare(place, end) > 0;
  };
  const noted = await database.read(
    builder.selectFrom('webhook_subscription').select(['webhook_id', ...COLUMNS]),
  );
  const beyond = noted.flatMap((row) =>
    COLUMNS.filter((column) => isBeyond(row[column])).map((column) => ({ row, column })),
  );
  const statements = beyond.map(({ row, column }) => ({
    query: builder
      .updateTable('webhook_subscription')
      .set({ [column]: end })
      .where('webhook_id', '=', row.webhook_id)
      .compile(),
  }));
  if (statements.length > 0) await database.transaction(statements);
  return new Set(beyond.map(({ row }) => row)).size;
};
