import type { RecordedEvent, StreamRevision } from '../../application/ports/event-store.ts';
import { CallRetries } from './connection.ts';
import type { Connection, Node } from './connection.ts';
import { isReasonToLeave, NoAnswerError, proofOf, unavailable } from './failures.ts';
import type { Position } from './event-wire.ts';
import { readRequest } from './messages.ts';
import type { ReadAnswer } from './messages.ts';

/** A whole stream comes in pages, so that no single answer holds up the others on the connection for long. */
const PAGE = 500;
/** Servers take no more calls of a connection at a time. */
const READS_AT_ONCE = 100;
/** A node that is silent for so long is left while there is time for another one. */
const LONGEST_TRY_MS = 4_000;

interface Answer {
  readonly events: RecordedEvent[];
  absent: boolean;
}

/** Reads single streams, from the leader, so that a read sees every append that was answered before. */
export class StreamReader {
  readonly #connection: Connection;
  readonly #timeoutMs: number;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  constructor(connection: Connection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws StoreUnavailableError */
  async read(
    stream: string,
    from = 0n,
  ): Promise<{ readonly events: readonly RecordedEvent[]; readonly revision: StreamRevision }> {
    const events: RecordedEvent[] = [];
    for (let next = from; ;) {
      const page = await this.#read(`reading ${stream}`, readRequest({ stream, from: next }, PAGE));
      if (page) events.push(...page);
      const last = events.at(-1);
      if (page?.length === PAGE && last) next = last.revision + 1n;
      else if (last) return { events, revision: last.revision };
      else return { events, revision: page && from > 0n ? await this.head(stream) : 'no_stream' };
    }
  }

  /** @throws StoreUnavailableError */
  async head(stream: string): Promise<StreamRevision> {
    return (await this.last(stream))?.revision ?? 'no_stream';
  }

  /** The stream's last event, if it has any. @throws StoreUnavailableError */
  async last(stream: string): Promise<RecordedEvent | undefined> {
    const events = await this.#read(`reading ${stream}`, readRequest({ stream, from: 'end' }, 1));
    return events?.[0];
  }

  /** At most so many events from there; none when the stream is absent or shorter. @throws StoreUnavailableError */
  async some(
    stream: string,
    from: bigint,
    count: number,
    timeoutMs?: number,
  ): Promise<readonly RecordedEvent[]> {
    const request = readRequest({ stream, from }, count);
    return (await this.#read(`reading ${stream}`, request, timeoutMs)) ?? [];
  }

  /**
   * The first event of the whole log from there on, or the last one of all.
   * @throws StoreUnavailableError
   */
  async ofLog(from: Position | 'end'): Promise<RecordedEvent | undefined> {
    return (await this.#read('reading the log', readRequest({ from }, 1)))?.[0];
  }

  /** Undefined when there is no such stream. */
  async #read(
    what: string,
    request: Buffer,
    timeoutMs = this.#timeoutMs,
  ): Promise<readonly RecordedEvent[] | undefined> {
    const retries = new CallRetries(this.#connection, timeoutMs);
    const longest = Math.min(timeoutMs, LONGEST_TRY_MS);
    for (;;) {
      let node: Node | undefined;
      let ms = longest;
      try {
        const asked = (node = await retries.node());
        const answer = await this.#inTurn(() => {
          ms = Math.min(retries.leftMs, longest);
          return this.#once(asked, request, ms);
        });
        return answer.absent ? undefined : answer.events;
      } catch (error) {
        if (node) retries.learn(node, error, { ms, usual: longest });
        const elsewhere = proofOf(error) === 'not_done' || isReasonToLeave(error);
        if (!elsewhere || !(await retries.again(error))) throw unavailable(what, error);
      }
    }
  }

  /** Waits while many are under way already: what is asked for at the same time as hundreds of others takes longer than a try may. */
  async #inTurn(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#underWay < READS_AT_ONCE) this.#underWay++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await ask();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#underWay--;
    }
  }

  async #once(node: Node, request: Buffer, ms: number): Promise<Answer> {
    if (node.left.aborted) throw new NoAnswerError('the node was left');
    const call = node.read('reads', request, { deadline: Date.now() + ms });
    const answer: Answer = { events: [], absent: false };
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(new NoAnswerError('the node was left'));
        call.cancel();
      };
      const done = (settle: () => void): void => {
        forget();
        settle();
      };
      const forget = node.whenLeft(leave);
      call.on('data', (one: ReadAnswer) => {
        if (one.kind === 'event') answer.events.push(one.event);
        else if (one.kind === 'absent') answer.absent = true;
      });
      call.on('error', (error) => done(() => reject(error)));
      call.on('end', () => done(() => resolve(answer)));
    });
  }
}
