import { Connection } from './connection.ts';
import type { ConnectionSettings } from './connection.ts';
import type { Route } from './webhook-sender.ts';

/**
 * Idle connections by origin, the most recently used first. How many are open at a time is bounded by who asks for them; an idle
 * one closes itself.
 */
export class ConnectionPool {
  readonly #settings: ConnectionSettings;
  readonly #idle = new Map<string, Connection[]>();
  readonly #busy = new Set<Connection>();

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** An idle one if there is any, unless a new one is asked for. */
  take(route: Route, fresh: boolean): Connection {
    const idle = fresh ? undefined : this.#pop(route.target.origin);
    const connection = idle ?? new Connection(route, this.#settings);
    connection.onEnd = undefined;
    this.#busy.add(connection);
    return connection;
  }

  #pop(origin: string): Connection | undefined {
    const idle = this.#idle.get(origin);
    const connection = idle?.pop();
    if (idle?.length === 0) this.#idle.delete(origin);
    return connection;
  }

  /** Back after a whole answer; anything else goes through `destroy`. */
  giveBack(connection: Connection): void {
    this.#busy.delete(connection);
    if (!connection.reusable) return connection.destroy();
    const idle = this.#idle.get(connection.origin);
    if (idle) idle.push(connection);
    else this.#idle.set(connection.origin, [connection]);
    connection.onEnd = () => this.#forget(connection);
  }

  #forget(connection: Connection): void {
    const idle = this.#idle.get(connection.origin)?.filter((other) => other !== connection) ?? [];
    if (idle.length > 0) this.#idle.set(connection.origin, idle);
    else this.#idle.delete(connection.origin);
    connection.destroy();
  }

  destroy(connection: Connection): void {
    this.#busy.delete(connection);
    connection.destroy();
  }

  /** Closes everything, also what is in use. */
  close(): void {
    for (const connection of [...this.#busy, ...[...this.#idle.values()].flat()]) connection.destroy();
    this.#busy.clear();
    this.#idle.clear();
  }
}
