import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Stands in the line to a server: lets everything through, nothing at all without a word, or hangs up. */
export class TcpGate {
  readonly #server = createServer((socket) => this.#join(socket));
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #open = true;

  private constructor(target: number) {
    this.#target = target;
  }

  static async before(port: number): Promise<TcpGate> {
    const gate = new TcpGate(port);
    gate.#server.listen(0, '127.0.0.1');
    await once(gate.#server, 'listening');
    return gate;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  /** From now on bytes of both directions vanish; connections stay, and new ones are taken. */
  swallow(): void {
    this.#open = false;
    for (const socket of this.#sockets) socket.unpipe();
  }

  /** New connections work again; those that swallowed something are cut. */
  restore(): void {
    this.#open = true;
    this.cut();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(incoming: Socket): void {
    const outgoing = this.#open ? connect(this.#target, '127.0.0.1') : undefined;
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      if (!socket) continue;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other?.destroy();
      });
      if (other) socket.pipe(other);
      else socket.resume();
    }
  }
}
