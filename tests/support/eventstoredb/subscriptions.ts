import { randomUUID } from 'node:crypto';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type * as grpc from '@grpc/grpc-js';
import { status as grpcStatus } from '@grpc/grpc-js';
import type { EventLog, StoredEvent } from './event-log.ts';
import type { Faults } from './faults.ts';
import type { ReadCall } from './reads.ts';
import { send, standsAt } from './reads.ts';
import {
  accessDenied,
  caughtUpAnswer,
  checkpointAnswer,
  confirmationAnswer,
  eventAnswer,
  failure,
  fellBehindAnswer,
  thrownByHandler,
} from './wire.ts';

const PAGE = 32;
/** Events that the server keeps for a live subscriber that does not take them. */
const LIVE_BUFFER = 32;

interface Filter {
  readonly matches: (event: StoredEvent) => boolean;
  /** How many events the server looks through at a time, and after how many it says where it is. */
  readonly window: number;
  readonly interval: number;
}

const filterOf = (options: ReadReq.Options): Filter => {
  const filter = options.getFilter();
  if (!filter) return { matches: () => true, window: PAGE, interval: Infinity };
  const byName = filter.getStreamIdentifier();
  const expression = byName ?? filter.getEventType();
  const [regex, prefixes] = [expression?.getRegex(), expression?.getPrefixList() ?? []];
  const pattern = regex ? new RegExp(regex) : undefined;
  const window = filter.hasMax() ? filter.getMax() : PAGE;
  return {
    window,
    interval: window * filter.getCheckpointintervalmultiplier(),
    matches: (event) => {
      const text = byName ? event.stream : event.type;
      return pattern ? pattern.test(text) : prefixes.some((prefix) => text.startsWith(prefix));
    },
  };
};

/** A subscription to $all: pages of what there is, then whatever is appended. */
export class AllSubscription {
  readonly #log: EventLog;
  readonly #faults: Faults;
  readonly #call: ReadCall;
  readonly #filter: Filter;
  /** Index of the next event to look at: behind the position asked for, for subscriptions begin after it. */
  #next: number;
  #considered = 0;
  #wake: () => void = () => undefined;
  #left = false;
  #blocked = false;

  constructor(log: EventLog, faults: Faults, call: ReadCall) {
    this.#log = log;
    this.#faults = faults;
    this.#call = call;
    const options = call.request.getOptions()!;
    const all = options.getAll();
    const from = all?.getPosition();
    if (all?.hasEnd()) this.#next = log.size;
    else this.#next = from ? log.firstBehind(Number(from.getCommitPosition())) : 0;
    this.#filter = filterOf(options);
  }

  async run(): Promise<void> {
    const stopListening = this.#log.listen(() => this.#wake());
    this.#call.once('cancelled', () => this.leave());
    this.#faults.seen('Subscribe', this.#call);
    try {
      const refusal = this.#refusal();
      if (refusal) return void this.#call.emit('error', refusal);
      if (this.#faults.subscriptions === 'unconfirmed') return await this.#untilLeft();
      await send(this.#call, confirmationAnswer(randomUUID()));
      while (!this.#left) {
        await this.#catchUp();
        if (this.#faults.saysCaughtUp && !this.#silent) await send(this.#call, caughtUpAnswer());
        await this.#followLive();
      }
    } finally {
      stopListening();
    }
  }

  /** The server ends the call: normally, or with an error. */
  drop(error?: grpc.ServiceError): void {
    this.leave();
    if (error) this.#call.emit('error', error);
    else this.#call.end();
  }

  leave(): void {
    this.#left = true;
    this.#wake();
  }

  get #silent(): boolean {
    return this.#faults.subscriptions === 'silent';
  }

  async #catchUp(): Promise<void> {
    const { window, interval, matches } = this.#filter;
    while (this.#next < this.#log.size && !this.#left && !this.#silent) {
      const page = this.#log.slice(this.#next, this.#next + window);
      let reached = page[0]!.position;
      let delivered = 0;
      for (const event of page) {
        if (delivered === PAGE || this.#left) break;
        this.#next++;
        this.#considered++;
        if (!matches(event)) continue;
        reached = event.position;
        delivered++;
        await this.#hand(event);
      }
      if (this.#next >= this.#log.size || this.#considered < interval) continue;
      this.#considered %= interval;
      // While it catches up, the server names the last event of the page that it handed out, or where the page began.
      await send(this.#call, checkpointAnswer(reached));
    }
  }

  async #followLive(): Promise<void> {
    const { interval, matches } = this.#filter;
    while (!this.#left) {
      if (this.#silent || this.#next >= this.#log.size) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const event = this.#log.event(this.#next++);
      if (matches(event)) {
        await this.#hand(event);
        // It reads slower than events come: more have gathered than the server keeps for it.
        if (this.#blocked && this.#log.size - this.#next > LIVE_BUFFER) return this.#tooSlow();
      } else if (++this.#considered >= interval) {
        this.#considered = 0;
        await send(this.#call, checkpointAnswer(event.position));
      }
    }
  }

  async #hand(event: StoredEvent): Promise<void> {
    this.#faults.messagesSent++;
    const sending = send(this.#call, eventAnswer(event));
    this.#blocked = this.#call.writableNeedDrain;
    if (!(await sending)) this.leave();
  }

  #refusal(): grpc.ServiceError | undefined {
    if (!this.#faults.mayReadAll) return accessDenied();
    const position = this.#call.request.getOptions()?.getAll()?.getPosition();
    return position && !standsAt(this.#log, position) ? thrownByHandler() : undefined;
  }

  async #tooSlow(): Promise<void> {
    if (this.#faults.slowSubscribers === 'told') return void (await send(this.#call, fellBehindAnswer()));
    this.drop(
      failure(
        grpcStatus.ABORTED,
        'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
      ),
    );
  }

  async #untilLeft(): Promise<void> {
    while (!this.#left)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}
