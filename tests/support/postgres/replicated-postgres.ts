import { TcpProxy } from '../tcp-proxy.ts';
import { PostgresServer } from './postgres-server.ts';
import { throughPort } from './test-postgres.ts';

/** A primary with a synchronous standby, at an address that leads to the primary, whichever server that is. */
export class ReplicatedPostgres {
  readonly proxy: TcpProxy;
  #primary: PostgresServer;
  #standby: PostgresServer;

  private constructor(primary: PostgresServer, standby: PostgresServer, proxy: TcpProxy) {
    this.#primary = primary;
    this.#standby = standby;
    this.proxy = proxy;
  }

  static async start(): Promise<ReplicatedPostgres> {
    const primary = await PostgresServer.start();
    const standby = await primary.synchronousStandby();
    return new ReplicatedPostgres(primary, standby, await TcpProxy.start({ port: primary.port }));
  }

  get url(): string {
    return throughPort(this.#primary.url, this.proxy.port);
  }

  /** The primary dies at once; the standby takes its place, and the lost server is replaced by a new standby. */
  async failOver(): Promise<void> {
    const lost = this.#primary;
    await lost.crash();
    await this.#standby.promote();
    this.#primary = this.#standby;
    this.proxy.lead({ port: this.#primary.port });
    await lost.crash();
    this.#standby = await this.#primary.synchronousStandby();
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await Promise.all([this.#standby.crash(), this.#primary.crash()]);
  }
}
