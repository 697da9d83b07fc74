import { backoff } from '../../application/support/retry.ts';
import { pause } from '../support/time.ts';
import type { Connection, Node } from './connection.ts';
import { isReasonToLeave, leaderNamedBy, NoLeaderError } from './failures.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/** How long a call may go on being tried, and what is between its tries. */
export class Patience {
  readonly until: number;
  readonly #connection: Connection;
  #failures = 0;

  constructor(connection: Connection, ms: number) {
    this.#connection = connection;
    this.until = performance.now() + ms;
  }

  get leftMs(): number {
    return Math.max(0, this.until - performance.now());
  }

  /** @throws NoLeaderError nobody leads until then */
  node(): Promise<Node> {
    return this.#connection.node(this.until);
  }

  /** Leaves a node that an error makes no use of. */
  learn(node: Node, error: unknown): void {
    if (isReasonToLeave(error)) this.#connection.leave(node, leaderNamedBy(error));
  }

  /** Waits a moment before the next try; false when there is no time for one. */
  async again(error: unknown): Promise<boolean> {
    if (error instanceof NoLeaderError) return false;
    const named = leaderNamedBy(error) !== undefined && this.#failures < 3;
    const most = backoff(++this.#failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    // Spread, so that all that failed together do not come back together.
    const waitMs = named ? 0 : most * (0.5 + Math.random() / 2);
    if (waitMs >= this.leftMs) return false;
    await pause(waitMs);
    return true;
  }
}
