export interface IssuedToken {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
}

/** A token is renewed so long before its end, or after nine tenths of its life. */
const MARGIN_MS = 60_000;

interface Held {
  readonly token: Promise<string>;
  /** Known once it was issued. */
  value?: string;
  until: number;
}

/** One token for all requests, and one request for it, however many ask at once. */
export class Tokens {
  readonly #issue: () => Promise<IssuedToken>;
  readonly #now: () => number;
  #current: Held | undefined;

  constructor(issue: () => Promise<IssuedToken>, now: () => number = () => performance.now()) {
    this.#issue = issue;
    this.#now = now;
  }

  /** @throws what kept it from being issued; the next call asks anew */
  get(): Promise<string> {
    if (!this.#current || this.#now() >= this.#current.until) this.#renew();
    return this.#current!.token;
  }

  /** The service took this token for expired or unknown. One that was renewed meanwhile stays. */
  refuse(value: string): void {
    if (this.#current?.value === value) this.#current = undefined;
  }

  #renew(): void {
    const asked = this.#now();
    const token = this.#issue().then(
      ({ access_token, expires_in }) => {
        const life = expires_in * 1_000;
        mine.value = access_token;
        mine.until = asked + life - Math.min(MARGIN_MS, life / 10);
        return access_token;
      },
      (error: unknown) => {
        if (this.#current === mine) this.#current = undefined;
        throw error;
      },
    );
    const mine: Held = { token, until: Infinity };
    this.#current = mine;
  }
}
