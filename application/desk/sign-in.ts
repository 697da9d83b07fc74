import { messageOf } from '../support/failures.ts';
import { ProviderAwayError, ProviderRefusedError } from './identity-provider.ts';
import type { Attempt, IdentityProvider } from './identity-provider.ts';
import { personOf } from './people.ts';
import type { RoleRules } from './people.ts';
import { sessionOf } from './sessions.ts';
import type { DeskSession, DeskSessions } from './sessions.ts';

export type Refused = 'sign_in' | 'session';

interface Dependencies {
  readonly provider: IdentityProvider;
  readonly sessions: DeskSessions;
  readonly roles: RoleRules;
  readonly idleMs: number;
  /** Differs when other people, or other roles, may come in: sessions from before are none then. */
  readonly configured: string;
  readonly onRefused: (reason: string, when: Refused) => void;
}

type Row = NonNullable<Awaited<ReturnType<DeskSessions['find']>>>;

export class SignIn {
  readonly #deps: Dependencies;
  readonly #asking = new Map<string, Promise<Row | undefined>>();

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws ProviderAwayError */
  start(): ReturnType<IdentityProvider['begin']> {
    return this.#deps.provider.begin();
  }

  /** @param attempt undefined: too late @returns the cookie @throws ProviderRefusedError @throws ProviderAwayError */
  async finish(search: string, attempt: Attempt | undefined): Promise<string> {
    const { provider, sessions, roles, configured, idleMs, onRefused } = this.#deps;
    try {
      if (attempt === undefined)
        throw new ProviderRefusedError('the browser brought nothing that begins here');
      const { identity, tokens } = await provider.finish(search, attempt);
      return await sessions.begin({ person: personOf(identity, roles), tokens, configured, idleMs });
    } catch (error) {
      if (error instanceof ProviderRefusedError) onRefused(messageOf(error), 'sign_in');
      throw error;
    }
  }

  /** @param active whether a person asks: what a page fetches by itself keeps no session alive */
  async find(cookie: string, active: boolean): Promise<DeskSession | undefined> {
    const { sessions, configured, idleMs } = this.#deps;
    const found = await sessions.find(cookie, configured);
    if (found === undefined) return undefined;
    const row = sessions.isToAsk(found) ? await this.#asked(found, cookie) : found;
    if (row === undefined) return undefined;
    if (active) await sessions.used(row, idleMs);
    return sessionOf(row);
  }

  speak(cookie: string, language: string): Promise<void> {
    return this.#deps.sessions.speak(cookie, language);
  }

  /** Undefined where there was none here. `address`: where the provider ends its own session; undefined where it cannot. */
  async end(
    cookie: string,
  ): Promise<{ readonly session: DeskSession; readonly address: string | undefined } | undefined> {
    const { sessions, configured } = this.#deps;
    const row = await sessions.find(cookie, configured);
    if (row === undefined) return undefined;
    await sessions.end(row.id);
    return { session: sessionOf(row), address: await this.#endAddress(row) };
  }

  async #endAddress(row: Row): Promise<string | undefined> {
    const { sessions, provider } = this.#deps;
    try {
      return await provider.endAddress(sessions.tokensOf(row)?.id);
    } catch (error) {
      if (error instanceof ProviderAwayError) return undefined;
      throw error;
    }
  }

  #asked(row: Row, cookie: string): Promise<Row | undefined> {
    const underWay = this.#asking.get(row.id);
    if (underWay) return underWay;
    const asking = this.#ask(row, cookie).finally(() => this.#asking.delete(row.id));
    this.#asking.set(row.id, asking);
    return asking;
  }

  async #ask(row: Row, cookie: string): Promise<Row | undefined> {
    const { sessions, provider, roles, configured, onRefused } = this.#deps;
    // Another console asks, or has asked.
    if (!(await sessions.mayAsk(row))) return sessions.find(cookie, configured);
    try {
      const kept = sessions.tokensOf(row);
      if (kept?.refresh === undefined) throw new ProviderRefusedError('its tokens cannot be opened');
      const { identity, tokens } = await provider.renew(kept.refresh);
      if (identity && (identity.issuer !== row.issuer || identity.subject !== row.subject))
        throw new ProviderRefusedError('the provider speaks of somebody else');
      const person = identity ? personOf(identity, roles) : sessionOf(row).person;
      await sessions.renewed(row, person, { ...kept, ...tokens });
      return await sessions.find(cookie, configured);
    } catch (error) {
      if (error instanceof ProviderAwayError) return row;
      if (!(error instanceof ProviderRefusedError)) throw error;
      onRefused(`a session goes on no longer: ${messageOf(error)}`, 'session');
      await sessions.end(row.id);
      return undefined;
    }
  }
}
