import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a request that was on its way when closing began may take to show itself. */
const SILENCE_MS = 200;

/** Knows which connections have asked nothing yet and which responses are under way, so that closing loses neither. */
export class Traffic {
  readonly #server: Server;
  /** To Node these count as busy, and while it closes it no longer times them out. */
  readonly #silent = new Set<Socket>();
  readonly #responses = new Set<ServerResponse>();
  #closing: Promise<void> | undefined;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#silent.add(socket);
      socket.once('close', () => this.#silent.delete(socket));
    });
  }

  /** To be called with every request before it is handled. */
  note(req: IncomingMessage, res: ServerResponse): void {
    this.#silent.delete(req.socket);
    if (this.#closing) res.shouldKeepAlive = false;
    this.#responses.add(res);
    res.once('close', () => {
      this.#responses.delete(res);
      if (this.#closing) req.socket.destroySoon();
    });
  }

  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  #close(graceMs: number): Promise<void> {
    for (const res of this.#responses) res.shouldKeepAlive = false;
    return new Promise((resolve) => {
      const hush = setTimeout(() => this.#destroySilent(), Math.min(SILENCE_MS, graceMs));
      const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
      this.#server.close(() => {
        clearTimeout(hush);
        clearTimeout(cut);
        resolve();
      });
    });
  }

  #destroySilent(): void {
    for (const socket of this.#silent) socket.destroy();
  }
}
