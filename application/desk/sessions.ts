import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { ExpressionBuilder, Selectable } from 'kysely';
import { SqlWrappedTexts, whileItsKeyWraps } from '../coordination/key-store.ts';
import type { WrappedTexts } from '../coordination/key-store.ts';
import { GuardFailedError } from '../sql/sql-database.ts';
import type { SqlDatabase, Statement } from '../sql/sql-database.ts';
import type { RealClock } from '../ports/clock.ts';
import { alone } from '../sql/engine.ts';
import type { Schema } from '../sql/schema.ts';
import { retry } from '../support/retry.ts';
import type { ProviderTokens } from './identity-provider.ts';
import type { Grant, Person } from './rights.ts';

export const tokensContext = (sessionId: string): string => `desk-session:${sessionId}`;

export const sessionTokens = (database: SqlDatabase): WrappedTexts =>
  new SqlWrappedTexts(database, { table: 'desk_session', name: 'id', wrapped: 'sealed_tokens' });

/** The oldest of a person goes when another one begins. */
const MOST_OF_A_PERSON = 8;
const HOUR_MS = 3_600_000;
const LONGEST_MS = 12 * HOUR_MS;
const LONGEST_UNASKED_MS = HOUR_MS;
const ASK_EVERY_MS = 5 * 60_000;
/** How much of its idle time a session may have used before that it is used is written down. */
const NOTED_EVERY = 1 / 60;

type Row = Selectable<Schema['desk_session']>;

export interface DeskSession {
  readonly id: string;
  readonly person: Person;
  readonly language: string | null;
}

export interface ListedSession extends DeskSession {
  readonly begunAt: string;
  readonly lastAt: string;
  readonly until: string;
}

interface Dependencies {
  readonly database: SqlDatabase;
  readonly clock: RealClock;
  /** With the master key, bound to the context. */
  readonly seal: (text: string, context: string) => Promise<string>;
  readonly open: (sealed: string, context: string) => string;
  readonly pause: (ms: number) => Promise<void>;
}

interface BeginningSession {
  readonly person: Person;
  readonly tokens: ProviderTokens;
  readonly configured: string;
  readonly idleMs: number;
}

/** The master key was changed between wrapping and storing. */
const REWRAPPED = {
  pausesMs: [0, 10, 50],
  mayPass: (error: unknown): boolean => error instanceof GuardFailedError,
};

const hashOf = (cookie: string): string => createHash('sha256').update(cookie).digest('base64url');

export const sessionOf = ({ id, issuer, subject, name, grants, language }: Row): DeskSession => ({
  id,
  person: { issuer, subject, name, grants: JSON.parse(grants) as readonly Grant[] },
  language,
});

/** Of what the browser holds only a hash is kept. */
export class DeskSessions {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @returns what the browser holds from now on */
  async begin({ person, tokens, configured, idleMs }: BeginningSession): Promise<string> {
    const { database } = this.#deps;
    const [id, cookie] = [randomUUID(), randomBytes(32).toString('base64url')];
    const begun = Date.parse(this.#deps.clock.realNow());
    const { issuer, subject, name, grants } = person;
    const asked = tokens.refresh !== undefined;
    const row = {
      ...{ id, cookie_hash: hashOf(cookie), issuer, subject, name, configured, language: null },
      grants: JSON.stringify(grants),
      begun_at: this.#at(0),
      last_at: this.#at(0),
      idle_until: this.#at(idleMs),
      until_at: this.#at(asked ? LONGEST_MS : LONGEST_UNASKED_MS),
      ask_at: asked ? new Date(begun + ASK_EVERY_MS).toISOString() : null,
    };
    await this.#whileSealed(id, tokens, (sealed) => [
      ...alone(database, 'sessions of the desk'),
      { query: this.#deletionOfEnded().compile() },
      {
        query: database.builder
          .insertInto('desk_session')
          .values({ ...row, sealed_tokens: sealed })
          .compile(),
      },
      { query: this.#deletionOfOldest(row).compile() },
    ]);
    return cookie;
  }

  /** @param configured what the console is set to @returns undefined where it has ended, or began under other settings */
  async find(cookie: string, configured: string): Promise<Row | undefined> {
    const query = this.#living()
      .where('cookie_hash', '=', hashOf(cookie))
      .where('configured', '=', configured);
    const [row] = await this.#deps.database.read(query);
    return row;
  }

  /** A person uses it. A power cut may take back that it was used. */
  async used({ id, last_at: lastAt }: Row, idleMs: number): Promise<void> {
    if (Date.parse(this.#at(0)) - Date.parse(lastAt) < idleMs * NOTED_EVERY) return;
    const { builder } = this.#deps.database;
    const set = { last_at: this.#at(0), idle_until: this.#at(idleMs) };
    const query = builder.updateTable('desk_session').set(set).where('id', '=', id);
    await this.#deps.database.transaction([{ query: query.compile() }], { durability: 'relaxed' });
  }

  async speak(cookie: string, language: string): Promise<void> {
    const { builder } = this.#deps.database;
    const query = builder
      .updateTable('desk_session')
      .set({ language })
      .where('cookie_hash', '=', hashOf(cookie));
    await this.#deps.database.transaction([{ query: query.compile() }]);
  }

  isToAsk({ ask_at: askAt }: Row): boolean {
    return askAt !== null && askAt <= this.#at(0);
  }

  /** Of several that would ask the provider at once, one may: a refresh token is often good for one use. */
  async mayAsk({ id, ask_at: askAt }: Row): Promise<boolean> {
    const { builder } = this.#deps.database;
    const query = builder
      .updateTable('desk_session')
      .set({ ask_at: this.#at(ASK_EVERY_MS) })
      .where('id', '=', id)
      .where('ask_at', '=', askAt);
    const [result] = await this.#deps.database.transaction([{ query: query.compile() }]);
    return result!.changes === 1;
  }

  async renewed({ id }: Row, { name, grants }: Person, tokens: ProviderTokens): Promise<void> {
    const { builder } = this.#deps.database;
    const update = builder.updateTable('desk_session').where('id', '=', id);
    const set = { name, grants: JSON.stringify(grants) };
    await this.#whileSealed(id, tokens, (sealed) => [
      { query: update.set({ ...set, sealed_tokens: sealed }).compile() },
    ]);
  }

  /** Undefined where the master key that sealed them is not there any more. */
  tokensOf({ id, sealed_tokens: sealed }: Row): ProviderTokens | undefined {
    try {
      return JSON.parse(this.#deps.open(sealed, tokensContext(id))) as ProviderTokens;
    } catch {
      return undefined;
    }
  }

  /** False where there is none that lives. */
  async end(id: string): Promise<boolean> {
    const { builder } = this.#deps.database;
    const query = builder.deleteFrom('desk_session').where('id', '=', id).where(this.#lives());
    const [result] = await this.#deps.database.transaction([{ query: query.compile() }]);
    return result!.changes === 1;
  }

  async list(): Promise<readonly ListedSession[]> {
    const rows = await this.#deps.database.read(this.#living().orderBy('begun_at', 'desc').orderBy('id'));
    return rows.map((row) => ({
      ...sessionOf(row),
      begunAt: row.begun_at,
      lastAt: row.last_at,
      until: row.idle_until < row.until_at ? row.idle_until : row.until_at,
    }));
  }

  #at(inMs: number): string {
    return new Date(Date.parse(this.#deps.clock.realNow()) + inMs).toISOString();
  }

  #lives() {
    const now = this.#at(0);
    return (eb: ExpressionBuilder<Schema, 'desk_session'>) =>
      eb.and([eb('until_at', '>', now), eb('idle_until', '>', now)]);
  }

  #living() {
    return this.#deps.database.builder.selectFrom('desk_session').selectAll().where(this.#lives());
  }

  #deletionOfEnded() {
    const lives = this.#lives();
    return this.#deps.database.builder.deleteFrom('desk_session').where((eb) => eb.not(lives(eb)));
  }

  #deletionOfOldest({ id, issuer, subject }: Pick<Row, 'id' | 'issuer' | 'subject'>) {
    const { builder } = this.#deps.database;
    const others = builder
      .selectFrom('desk_session')
      .select('id')
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .where('id', '<>', id)
      .orderBy('begun_at', 'desc')
      .orderBy('id')
      .limit(MOST_OF_A_PERSON - 1);
    return builder
      .deleteFrom('desk_session')
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .where('id', '<>', id)
      .where('id', 'not in', others);
  }

  /** Stores what no other master key than the one that wraps now has sealed. */
  async #whileSealed(
    id: string,
    tokens: ProviderTokens,
    statements: (sealed: string) => readonly Statement[],
  ): Promise<void> {
    const { database, seal, pause } = this.#deps;
    const store = async (): Promise<void> => {
      const sealed = await seal(JSON.stringify(tokens), tokensContext(id));
      await database.transaction([...whileItsKeyWraps(database, sealed), ...statements(sealed)]);
    };
    await retry(store, REWRAPPED, pause);
  }
}
