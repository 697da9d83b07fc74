import { OutcomeUnknownError } from '../../../application/ports/event-store.ts';
import type { AppendReply, Row } from '../../sqlite/event-log/append-wire.ts';
import type { AppendWriter } from '../../sqlite/event-log/event-log-threads.ts';
import type { FromBackground } from './wire.ts';

interface Pending {
  resolve(reply: AppendReply): void;
  reject(error: Error): void;
}

/** The writer of the log as the background thread sees it: over messages to the main thread, which owns it. */
export class RemoteAppends implements AppendWriter {
  readonly #post: (message: FromBackground) => void;
  readonly #pending = new Map<number, Pending>();
  #asked = 0;

  constructor(post: (message: FromBackground) => void) {
    this.#post = post;
  }

  call(append: Row, characters: number): Promise<AppendReply> {
    return new Promise((resolve, reject) => {
      const id = ++this.#asked;
      this.#pending.set(id, { resolve, reject });
      this.#post({ kind: 'append', id, append, characters });
    });
  }

  settle(id: number, reply: AppendReply): void {
    this.#pending.get(id)?.resolve(reply);
    this.#pending.delete(id);
  }

  async close(): Promise<void> {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const one of pending) one.reject(new OutcomeUnknownError('the thread was closed before the answer'));
  }
}
