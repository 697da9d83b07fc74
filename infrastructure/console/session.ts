import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Person } from '../../application/desk/rights.ts';
import type { Language } from './language.ts';

export interface Session {
  /** Names it in the desk log; nobody comes in with it. */
  readonly id: string;
  readonly formToken: string;
  language?: Language;
  /** Undefined without sign-in: whoever has the printed address may do everything. */
  readonly person?: Person;
}

export interface SessionKeeper {
  /** @param active whether a person asks: what the page fetches by itself keeps no session alive */
  find(cookie: string, active: boolean): Session | undefined | Promise<Session | undefined>;
  speak(cookie: string, language: Language): void | Promise<void>;
}

interface Kept {
  readonly session: Session;
  readonly begunAt: number;
  lastAt: number;
}

const SESSION_LIMITS = {
  idleMs: 30 * 60_000,
  longestMs: 12 * 3_600_000,
  tokenMs: 10 * 60_000,
  /** The oldest goes when another one begins. */
  most: 8,
};

const secret = (): string => randomBytes(32).toString('base64url');

export const equalSecrets = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** Who may look: a one-time token begins a session, and only what it answered with continues it. All of it in memory. */
export class Sessions implements SessionKeeper {
  readonly #limits: typeof SESSION_LIMITS;
  readonly #now: () => number;
  readonly #sessions = new Map<string, Kept>();
  #token:
    { readonly text: string; readonly until: number; readonly used?: (() => void) | undefined } | undefined;

  /** @param now in milliseconds, monotonic */
  constructor(limits: Partial<typeof SESSION_LIMITS> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...SESSION_LIMITS, ...limits };
    this.#now = now;
  }

  /** A token for one session. The one before it is worth nothing any more. @param used called when it was handed in, too late or not */
  issueToken(used?: () => void): string {
    this.#token = { text: secret(), until: this.#now() + this.#limits.tokenMs, used };
    return this.#token.text;
  }

  /** @returns the id of a new session; undefined for a token that is unknown, used or too old */
  begin(token: string): string | undefined {
    const issued = this.#token;
    if (issued === undefined || !equalSecrets(issued.text, token)) return undefined;
    this.#token = undefined;
    issued.used?.();
    if (this.#now() >= issued.until) return undefined;
    this.#removeEnded();
    if (this.#sessions.size >= this.#limits.most) {
      const [oldest] = this.#sessions.keys();
      this.#sessions.delete(oldest!);
    }
    const id = secret();
    const now = this.#now();
    this.#sessions.set(id, { session: { id: randomUUID(), formToken: secret() }, begunAt: now, lastAt: now });
    return id;
  }

  find(id: string, active: boolean): Session | undefined {
    const kept = this.#sessions.get(id);
    if (kept === undefined || this.#hasEnded(kept)) return undefined;
    if (active) kept.lastAt = this.#now();
    return kept.session;
  }

  speak(id: string, language: Language): void {
    const kept = this.#sessions.get(id);
    if (kept) kept.session.language = language;
  }

  end(id: string): void {
    this.#sessions.delete(id);
  }

  #hasEnded({ begunAt, lastAt }: Kept): boolean {
    const now = this.#now();
    return now - lastAt >= this.#limits.idleMs || now - begunAt >= this.#limits.longestMs;
  }

  #removeEnded(): void {
    for (const [id, kept] of this.#sessions) if (this.#hasEnded(kept)) this.#sessions.delete(id);
  }
}
