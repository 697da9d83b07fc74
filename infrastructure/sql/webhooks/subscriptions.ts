import type { Kysely } from 'kysely';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { Rewrapped, WrappedText, WrappedTexts } from '../../../application/ports/key-store.ts';
import type {
  NewSubscription,
  SubscriptionChange,
  WebhookDirectory,
  WebhookStatus,
  WebhookSubscription,
  WebhookSubscriptions,
} from '../../../application/ports/webhook-subscriptions.ts';
import { whileItsKeyWraps } from '../key-store.ts';
import { alone, notAlone } from '../coordination.ts';
import { GuardFailedError } from '../sql-database.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase, Statement, StatementResult } from '../sql-database.ts';
import { EnqueueStatements, GIVING_EVENTS } from './enqueue.ts';
import { preparedList } from '../prepared-query.ts';
import type { WebhookSubscriptionTable } from './schema.ts';

export const VISIBLE = [
  'webhook_id',
  'application_id',
  'url',
  'events',
  'fund_ids',
  'description',
  'status',
  'created_at',
  'events_from',
  'updated_at',
  'last_success_at',
  'last_failure_at',
  'failing_since',
] as const;
type VisibleRow = Pick<WebhookSubscriptionTable, (typeof VISIBLE)[number]>;

const listText = (list: readonly string[] | null): string | null =>
  list === null ? null : JSON.stringify(list);

export const subscriptionOf = (row: VisibleRow): WebhookSubscription => ({
  webhookId: row.webhook_id,
  applicationId: row.application_id,
  url: row.url,
  events: JSON.parse(row.events) as string[],
  fundIds: row.fund_ids === null ? null : (JSON.parse(row.fund_ids) as string[]),
  description: row.description,
  status: row.status as WebhookStatus,
  createdAt: row.created_at,
  // Where there is none, no clock had been moved yet.
  eventsFrom: row.events_from ?? row.created_at,
  updatedAt: row.updated_at,
  lastSuccessAt: row.last_success_at,
  lastFailureAt: row.last_failure_at,
  failingSince: row.failing_since,
});

const columnsOf = (change: SubscriptionChange): Partial<WebhookSubscriptionTable> => ({
  ...(change.url !== undefined && { url: change.url }),
  ...(change.events && { events: JSON.stringify(change.events) }),
  ...(change.fundIds !== undefined && { fund_ids: listText(change.fundIds) }),
  ...(change.description !== undefined && { description: change.description }),
  ...(change.status && { status: change.status }),
  ...(change.sealedSecret !== undefined && { sealed_secret: change.sealedSecret }),
});

const anotherKeyWraps = (cause: unknown): StoreUnavailableError =>
  new StoreUnavailableError('the master key was changed in this moment: try again', { cause });

const present = (builder: Kysely<Schema>) =>
  builder.selectFrom('webhook_subscription').select(VISIBLE).where('status', '<>', 'removed');

/** Asked for each batch of events. */
const ofApplications = (builder: Kysely<Schema>) =>
  preparedList((applicationIds) =>
    present(builder)
      .where('application_id', 'in', applicationIds)
      .orderBy('created_at')
      .orderBy('webhook_id'),
  );

export class SqlWebhookSubscriptions implements WebhookSubscriptions, WebhookDirectory {
  readonly #database: SqlDatabase;
  readonly #enqueue: EnqueueStatements;
  readonly #ofApplications: ReturnType<typeof ofApplications>;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#enqueue = new EnqueueStatements(database.builder);
    this.#ofApplications = ofApplications(database.builder);
  }

  async add(subscription: NewSubscription, limit: number): Promise<boolean> {
    const { webhookId, createdAt, ping } = subscription;
    const { applicationId } = subscription;
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
    const row = builder
      .selectFrom(existing.as('existing'))
      .select((eb) => [
        eb.val(subscription.webhookId).as('webhook_id'),
        eb.val(applicationId).as('application_id'),
        eb.val(subscription.url).as('url'),
        eb.val(JSON.stringify(subscription.events)).as('events'),
        eb.val(listText(subscription.fundIds)).as('fund_ids'),
        eb.val(subscription.description).as('description'),
        eb.val('active').as('status'),
        eb.val(subscription.sealedSecret).as('sealed_secret'),
        eb.val(subscription.createdAt).as('created_at'),
        eb.val(subscription.eventsFrom ?? subscription.createdAt).as('events_from'),
        eb.val(subscription.createdAt).as('updated_at'),
      ])
      .where('existing.count', '<', limit);
    const insert = builder
      .insertInto('webhook_subscription')
      .columns([
        'webhook_id',
        'application_id',
        'url',
        'events',
        'fund_ids',
        'description',
        'status',
        'sealed_secret',
        'created_at',
        'events_from',
        'updated_at',
      ])
      .expression(row);
    return { query: insert.compile(), expectChanges: 1 };
  }

  async find(applicationId: string, webhookId: string): Promise<WebhookSubscription | undefined> {
    const [row] = await this.#database.read(
      this.#present().where('application_id', '=', applicationId).where('webhook_id', '=', webhookId),
    );
    return row && subscriptionOf(row);
  }

  async findAnywhere(webhookId: string): Promise<WebhookSubscription | undefined> {
    const [row] = await this.#database.read(this.#present().where('webhook_id', '=', webhookId));
    return row && subscriptionOf(row);
  }

  async ofApplications(applicationIds: readonly string[]): Promise<readonly WebhookSubscription[]> {
    if (applicationIds.length === 0) return [];
    const rows = await this.#database.read(this.#ofApplications(applicationIds, {}));
    return rows.map(subscriptionOf);
  }

  #present() {
    return present(this.#database.builder);
  }

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
    const results = await this.#transaction([
      ...(change.sealedSecret === undefined ? [] : whileItsKeyWraps(this.#database, change.sealedSecret)),
      { query: query.compile() },
    ]);
    const row = results.at(-1)?.rows[0] as VisibleRow | undefined;
    return row && subscriptionOf(row);
  }

  async #transaction(statements: readonly Statement[]): Promise<readonly StatementResult[]> {
    try {
      return await this.#database.transaction(statements);
    } catch (error) {
      throw error instanceof GuardFailedError ? anotherKeyWraps(error) : error;
    }
  }

  async remove(applicationId: string, webhookId: string, at: string): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('webhook_subscription')
      .set({ status: 'removed', sealed_secret: '', updated_at: at })
      .where('application_id', '=', applicationId)
      .where('webhook_id', '=', webhookId)
      .where('status', '<>', 'removed');
    const [result] = await this.#database.transaction([{ query: query.compile() }]);
    return result!.changes > 0;
  }
}

/** Signing secrets of subscriptions, by webhook id. Those of removed ones are gone already. */
export class SqlWebhookSecrets implements WrappedTexts {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async page(after: string, limit: number): Promise<readonly WrappedText[]> {
    const query = this.#database.builder
      .selectFrom('webhook_subscription')
      .select(['webhook_id as name', 'sealed_secret as wrapped'])
      .where('webhook_id', '>', after)
      .where('sealed_secret', '<>', '')
      .orderBy('webhook_id')
      .limit(limit);
    return this.#database.read(query);
  }

  async rewrap(changes: readonly Rewrapped[]): Promise<number> {
    if (changes.length === 0) return 0;
    const statements = changes.map(({ name, from, to }) => ({
      query: this.#database.builder
        .updateTable('webhook_subscription')
        .set({ sealed_secret: to })
        .where('webhook_id', '=', name)
        .where('sealed_secret', '=', from)
        .compile(),
    }));
    const results = await this.#database.transaction(statements);
    return results.reduce((sum, { changes: changed }) => sum + changed, 0);
  }
}
