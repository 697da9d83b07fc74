import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const KEEP_ALIVE_MS = 60_000;
const QUIET_AFTER_MS = 20;
/** Longer than brokers hold requests back. */
const LEFT_ALONE_MS = 60_000;

const opened = ({ host, port, ssl, onConnect }: Parameters<ISocketFactory>[0]): Socket => {
  if (!ssl) return connect({ host, port }, onConnect);
  const servername = isIP(host) ? {} : { servername: host };
  return connectSecurely({ host, port, ...servername, ...ssl }, onConnect);
};

/**
 * Connections that cost nothing while nothing comes. In kafkajs 2.2.4 each answer starts a timer that looks for waiting requests every
 * millisecond from then on (tulios/kafkajs#1704, #1751). A connection that says once more that it is connected begins its timers anew,
 * without that one until the next answer. Where requests do wait, because a broker has asked for it, the timer is needed and stays.
 */
export class QuietSockets {
  readonly #waitedAt = new Map<string, number>();

  /** @param broker `host:port` */
  queued(broker: string, requests: number): void {
    if (requests > 0) this.#waitedAt.set(broker, performance.now());
  }

  readonly open: ISocketFactory = (options) => {
    const { host, port, onConnect } = options;
    const socket = opened(options).setKeepAlive(true, KEEP_ALIVE_MS);
    const calm = (): void => {
      const waitedAt = this.#waitedAt.get(`${host}:${port}`) ?? -Infinity;
      if (socket.writable && performance.now() - waitedAt > LEFT_ALONE_MS) onConnect();
    };
    let quiet: NodeJS.Timeout | undefined;
    socket.on('data', () => {
      quiet = quiet?.refresh() ?? setTimeout(calm, QUIET_AFTER_MS).unref();
    });
    socket.on('close', () => clearTimeout(quiet));
    return socket;
  };
}
