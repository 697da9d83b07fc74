import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { freePort } from './service-process.ts';

interface ProxyTarget {
  readonly host?: string;
  readonly port: number;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

type Mode = 'pass' | 'mute' | 'blackhole';

/**
 * A TCP proxy on a loopback port that fails on command.
 * `pass`: as if it were not there. `mute`: requests arrive, answers vanish. `blackhole`: nothing arrives any more, connections stay
 * open. `refuse`: everything open is reset, nobody listens. `cut` resets what is open once, whatever the mode.
 */
export class TcpProxy {
  #target: ProxyTarget;
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;
  #mode: Mode = 'pass';
  #port = 0;
  /** On the way to either side, in milliseconds. */
  #latencyMs = 0;

  private constructor(target: ProxyTarget) {
    this.#target = target;
  }

  /** @param port where it listens; by default a free one that no outgoing connection takes while nobody listens there */
  static async start(target: ProxyTarget, port?: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#port = port ?? (await freePort());
    await proxy.#listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  async pass(): Promise<void> {
    this.#mode = 'pass';
    if (!this.#server) await this.#listen();
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  mute(): void {
    this.#mode = 'mute';
  }

  blackhole(): void {
    this.#mode = 'blackhole';
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = server && once(server, 'close');
    server?.close();
    this.cut();
    await closed;
  }

  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    this.#pairs.clear();
  }

  /** Leads elsewhere from now on, as a balancer does after a fail-over; what is open is reset. */
  lead(target: ProxyTarget): void {
    this.#target = target;
    this.cut();
  }

  delay(latencyMs: number): void {
    this.#latencyMs = latencyMs;
  }

  close(): Promise<void> {
    return this.refuse();
  }

  async #listen(): Promise<void> {
    const server = createServer((client) => this.#connect(client));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  #connect(client: Socket): void {
    const { host = '127.0.0.1', port } = this.#target;
    const server = createConnection({ host, port, noDelay: true });
    client.setNoDelay(true);
    const pair = { client, server };
    this.#pairs.add(pair);
    this.#pipe(pair, client, server);
    this.#pipe(pair, server, client);
    if (this.#mode !== 'blackhole') return;
    client.pause();
    server.pause();
  }

  #pipe(pair: Pair, from: Socket, to: Socket): void {
    const ended = (): void => {
      // What an end means must not get through a black hole either.
      if (this.#mode === 'blackhole' && this.#pairs.has(pair)) return;
      this.#pairs.delete(pair);
      to.destroy();
    };
    const late: Buffer[] = [];
    from.on('data', (bytes: Buffer) => {
      if (this.#mode === 'mute' && from === pair.server) return;
      if (this.#latencyMs === 0 && late.length === 0) return void to.write(bytes);
      // Whoever is due takes the oldest, so that nothing overtakes once the way is shorter again.
      late.push(bytes);
      setTimeout(() => to.write(late.shift()!), this.#latencyMs);
    });
    from.on('error', ended);
    from.on('close', ended);
  }
}
