import { guarded } from '../sql/compare-and-set.ts';
import type { SqlDatabase, Statement } from '../sql/sql-database.ts';
import type { Schema } from '../sql/schema.ts';
import type { Scope } from './scopes.ts';

export interface Client {
  readonly clientId: string;
  readonly applicationId: string;
  readonly name: string;
  readonly rateLimitMultiplier: number;
  /** What its tokens allow; absent: everything that a client of its kind can be allowed. */
  readonly scopes?: readonly Scope[];
  /** Lower-case UUIDs, at least one: what belongs to another fund is hidden from it. Absent: it sees every fund. */
  readonly onlyFundIds?: readonly string[];
  readonly createdAt: string;
  readonly revokedAt: string | null;
}
export interface ClientWithSecret extends Client {
  /** Salted hash of the secret, self-describing text. */
  readonly secretHash: string;
}
export interface Application {
  readonly applicationId: string;
  /** Linked funds, lower-case UUIDs. */
  readonly fundIds: readonly string[];
  /** Its clients share their rate limits: the largest of those that were not revoked counts for all. */
  readonly rateLimitMultiplier: number;
}

export type ListedClient = Client & Pick<Application, 'fundIds'>;

export interface ClientChanges {
  readonly name?: string;
  readonly rateLimitMultiplier?: number;
  /** UUIDs, linked to the client's application and unlinked from it. */
  readonly addFundIds: readonly string[];
  readonly removeFundIds: readonly string[];
}

export type ClientRegistry = Pick<SqlClientRegistry, keyof SqlClientRegistry>;

export const applicationsIn = async (registry: Pick<ClientRegistry, 'list'>): Promise<readonly string[]> => [
  ...new Set((await registry.list()).map(({ applicationId }) => applicationId)),
];

type ClientRow = Schema['client'];

const clientOf = (row: Omit<ClientRow, 'secret_hash'>): Client => ({
  clientId: row.client_id,
  applicationId: row.application_id,
  name: row.name,
  rateLimitMultiplier: row.rate_limit_multiplier,
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
  ...(row.scopes !== null && { scopes: JSON.parse(row.scopes) as readonly Scope[] }),
  ...(row.only_fund_ids !== null && { onlyFundIds: JSON.parse(row.only_fund_ids) as readonly string[] }),
});

const listText = (list: readonly string[] | undefined): string | null => (list ? JSON.stringify(list) : null);

const rowOf = (client: ClientWithSecret): ClientRow => ({
  client_id: client.clientId,
  application_id: client.applicationId,
  name: client.name,
  secret_hash: client.secretHash,
  rate_limit_multiplier: client.rateLimitMultiplier,
  created_at: client.createdAt,
  revoked_at: client.revokedAt,
  scopes: listText(client.scopes),
  only_fund_ids: listText(client.onlyFundIds),
});

/** Clients, their applications, which have no rows of their own, and the funds linked to them. Durable when a call resolves. */
export class SqlClientRegistry {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** @returns the funds that its application is linked to */
  async create(client: ClientWithSecret, fundIds: readonly string[]): Promise<readonly string[]> {
    const { builder } = this.#database;
    const { applicationId } = client;
    const insert = { query: builder.insertInto('client').values(rowOf(client)).compile() };
    const [links] = (
      await this.#database.transaction([
        ...this.#linking(applicationId, fundIds),
        insert,
        { query: this.#funds(applicationId).compile() },
      ])
    ).slice(-1);
    const rows = links!.rows as readonly { readonly fund_id: string }[];
    return rows.map((row) => row.fund_id);
  }

  async find(clientId: string): Promise<ClientWithSecret | undefined> {
    const query = this.#database.builder.selectFrom('client').selectAll().where('client_id', '=', clientId);
    const [row] = await this.#database.read(query);
    return row && { ...clientOf(row), secretHash: row.secret_hash };
  }

  async application(applicationId: string): Promise<Application | undefined> {
    const own = this.#database.builder
      .selectFrom('client')
      .select(['rate_limit_multiplier', 'revoked_at'])
      .where('application_id', '=', applicationId);
    const [clients, funds] = await this.#database.snapshot([own, this.#funds(applicationId)]);
    if (clients.length === 0) return undefined;
    const living = clients.filter(({ revoked_at }) => revoked_at === null);
    const rateLimitMultiplier = Math.max(0, ...living.map((row) => row.rate_limit_multiplier));
    return { applicationId, fundIds: funds.map((row) => row.fund_id), rateLimitMultiplier };
  }

  async list(): Promise<readonly ListedClient[]> {
    const { builder } = this.#database;
    const [clients, funds] = await this.#database.snapshot([
      builder.selectFrom('client').selectAll().orderBy('created_at').orderBy('client_id'),
      builder.selectFrom('application_fund').selectAll().orderBy('fund_id'),
    ]);
    const fundsOf = Map.groupBy(funds, (link) => link.application_id);
    return clients.map((row) => ({
      ...clientOf(row),
      fundIds: (fundsOf.get(row.application_id) ?? []).map((link) => link.fund_id),
    }));
  }

  async update(clientId: string, changes: ClientChanges): Promise<boolean> {
    const client = await this.find(clientId);
    if (!client || client.revokedAt !== null) return false;
    const { builder } = this.#database;
    const { applicationId } = client;
    const { name = client.name, rateLimitMultiplier = client.rateLimitMultiplier } = changes;
    const set = builder
      .updateTable('client')
      .set({ name, rate_limit_multiplier: rateLimitMultiplier })
      .where('client_id', '=', clientId)
      .where('revoked_at', 'is', null);
    const unlink = builder
      .deleteFrom('application_fund')
      .where('application_id', '=', applicationId)
      .where('fund_id', 'in', changes.removeFundIds);
    const statements = [
      { query: set.compile(), expectChanges: 1 },
      ...(changes.removeFundIds.length > 0 ? [{ query: unlink.compile() }] : []),
      ...this.#linking(applicationId, changes.addFundIds),
    ];
    return guarded(this.#database.transaction(statements));
  }

  async replaceSecretHash(clientId: string, from: string, to: string): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('client')
      .set({ secret_hash: to })
      .where('client_id', '=', clientId)
      .where('secret_hash', '=', from);
    return guarded(this.#database.transaction([{ query: query.compile(), expectChanges: 1 }]));
  }

  async revoke(clientId: string, at: string): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('client')
      .set({ revoked_at: at })
      .where('client_id', '=', clientId)
      .where('revoked_at', 'is', null);
    return guarded(this.#database.transaction([{ query: query.compile(), expectChanges: 1 }]));
  }

  #linking(applicationId: string, fundIds: readonly string[]): readonly Statement[] {
    if (fundIds.length === 0) return [];
    // In one order everywhere, so that two of these never wait for each other.
    const ids = fundIds.map((id) => id.toLowerCase()).sort();
    const rows = ids.map((id) => ({ application_id: applicationId, fund_id: id }));
    const query = this.#database.builder
      .insertInto('application_fund')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['application_id', 'fund_id']).doNothing());
    return [{ query: query.compile() }];
  }

  #funds(applicationId: string) {
    return this.#database.builder
      .selectFrom('application_fund')
      .select('fund_id')
      .where('application_id', '=', applicationId)
      .orderBy('fund_id');
  }
}
