import { setImmediate as turn } from 'node:timers/promises';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventToAppend,
  JsonText,
  KeyClaim,
  LogPosition,
  RecordedEvent,
  StreamRevision,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';
import { claimId, InMemoryEventStore, nextRevision } from '../support/in-memory-event-store.ts';

type Append = Parameters<InMemoryEventStore['append']>;
type EarlierAppend = readonly [stream: string, expected: StreamRevision, events: readonly EventToAppend[]];

/** Agrees to everything and does nothing. */
export class NoOpEventStore extends InMemoryEventStore {
  override async append(...[, , events]: Append): Promise<AppendResult> {
    return { revision: BigInt(events.length - 1), position: '0' as LogPosition };
  }
  override async *subscribe(): AsyncGenerator<SubscriptionMessage, void, undefined> {}
}

/** Looks before it was told of the newest append. */
export class EndsTooEarly extends InMemoryEventStore {
  override async end(): Promise<LogPosition | 'start'> {
    return this.log.at(-3)?.position ?? 'start';
  }
}

export class IgnoresRevisions extends InMemoryEventStore {
  protected override checkRevision(): void {}
  protected override store(stream: string, _first: bigint, events: readonly EventToAppend[]): AppendResult {
    return super.store(stream, BigInt(this.streamEvents(stream).length), events);
  }
}

/** Looks at the revision, lets others run, then writes: what a check outside the transaction comes to. */
export class ChecksTooEarly extends IgnoresRevisions {
  override async append(...[stream, expected, events, claim]: Append): Promise<AppendResult> {
    const actual = await this.head(stream);
    if (actual !== expected && !this.earlierResult(stream, expected, events))
      throw new ConcurrencyError(stream, expected, actual);
    await turn();
    return super.append(stream, expected, events, claim);
  }
}

export class AcceptsRevisionsTooLow extends InMemoryEventStore {
  protected override checkRevision(stream: string, expected: StreamRevision): void {
    if (expected === 'no_stream' || expected > (this.streamEvents(stream).at(-1)?.revision ?? -1n))
      super.checkRevision(stream, expected);
  }
}

export class ForgetsRepeats extends InMemoryEventStore {
  protected override earlierResult(): undefined {}
}

export class RepeatsByFirstIdOnly extends InMemoryEventStore {
  protected override earlierResult(...[stream, expected, events]: EarlierAppend) {
    return super.earlierResult(stream, expected, events.slice(0, 1));
  }
}

/** Answers a repetition with where the stream is now. */
export class RepeatsAnswerTheHead extends InMemoryEventStore {
  protected override earlierResult(...[stream, expected, events]: EarlierAppend) {
    const head = this.streamEvents(stream).at(-1);
    const earlier = super.earlierResult(stream, expected, events);
    return earlier && head && { revision: head.revision, position: head.position };
  }
}

export class StoresHalfOfARefusedAppend extends InMemoryEventStore {
  override async append(...[stream, expected, events, claim]: Append): Promise<AppendResult> {
    try {
      return await super.append(stream, expected, events, claim);
    } catch (error) {
      if (error instanceof KeyAlreadyClaimedError)
        this.store(stream, nextRevision(expected), events.slice(1));
      throw error;
    }
  }
}

export class IgnoresClaims extends InMemoryEventStore {
  protected override checkClaim(): void {}
}

export class NeverRemembersClaims extends InMemoryEventStore {
  override async append(...[stream, expected, events]: Append): Promise<AppendResult> {
    return super.append(stream, expected, events);
  }
}

/** Uses the key up even when the append is refused. */
export class ClaimsForRefused extends InMemoryEventStore {
  override async append(...[stream, expected, events, claim]: Append): Promise<AppendResult> {
    try {
      return await super.append(stream, expected, events, claim);
    } catch (error) {
      if (claim) this.claims.set(claimId(claim), stream);
      throw error;
    }
  }
}

export class ChecksClaimsFirst extends InMemoryEventStore {
  override async append(...[stream, expected, events, claim]: Append): Promise<AppendResult> {
    if (claim) this.checkClaim(claim);
    return super.append(stream, expected, events, claim);
  }
}

export class ClaimsWithoutCase extends InMemoryEventStore {
  override async findClaim(claim: KeyClaim): Promise<string | undefined> {
    return super.findClaim({ ...claim, key: claim.key.toLowerCase().trim() });
  }
}

/** Writes the payload anew instead of keeping its text. */
export class ReformatsJson extends InMemoryEventStore {
  protected override store(stream: string, first: bigint, events: readonly EventToAppend[]): AppendResult {
    const reformat = (text: JsonText): JsonText => JSON.stringify(JSON.parse(text)) as JsonText;
    return super.store(
      stream,
      first,
      events.map((event) => ({ ...event, data: reformat(event.data) })),
    );
  }
}

/** Believes every place. */
export class HasEveryPlace extends InMemoryEventStore {
  override async ensureHas(): Promise<void> {}
}

export class ReadsFromTheStart extends InMemoryEventStore {
  override async read(
    stream: string,
  ): Promise<{ events: readonly RecordedEvent[]; revision: StreamRevision }> {
    return super.read(stream);
  }
}

type Messages = AsyncGenerator<SubscriptionMessage, void, undefined>;
type Rewrite = (message: SubscriptionMessage) => SubscriptionMessage | undefined;

/** A sound store whose subscription messages are changed or left out on their way. */
const withMessages = (rewrite: Rewrite) =>
  class extends InMemoryEventStore {
    override async *subscribe(options: SubscribeOptions): Messages {
      for await (const message of super.subscribe(options)) {
        const rewritten = rewrite(message);
        if (rewritten) yield rewritten;
      }
    }
  };

export const LosesLastEvent = withMessages((message) =>
  message.kind === 'events' ? { ...message, events: message.events.slice(0, -1) } : message,
);

export const ReversesBatches = withMessages((message) =>
  message.kind === 'events' ? { ...message, events: message.events.toReversed() } : message,
);

export const DeliversTwice = withMessages((message) =>
  message.kind === 'events' ? { ...message, events: [...message.events, ...message.events] } : message,
);

export const NeverCaughtUp = withMessages((message) => (message.kind === 'caught_up' ? undefined : message));

export const SilentAboutSkipped = withMessages((message) =>
  message.kind === 'checkpoint' ? undefined : message,
);

export class OvertakesWithCheckpoints extends InMemoryEventStore {
  override async *subscribe(options: SubscribeOptions): Messages {
    for await (const message of super.subscribe(options)) {
      const end = this.log.at(-1)?.position;
      yield message.kind === 'events' && end ? { ...message, checkpoint: end } : message;
    }
  }
}

/** Takes the position it resumes from for one still to be handed out. */
export class ResumesInclusively extends InMemoryEventStore {
  override async *subscribe(options: SubscribeOptions): Messages {
    const at = this.log.findIndex(({ position }) => position === options.from);
    const before = this.log[at - 1]?.position ?? 'start';
    yield* super.subscribe({ ...options, from: at < 0 ? options.from : before });
  }
}

const withOptions = (change: (options: SubscribeOptions) => SubscribeOptions) =>
  class extends InMemoryEventStore {
    override async *subscribe(options: SubscribeOptions): Messages {
      yield* super.subscribe(change(options));
    }
  };

export const IgnoresPrefix = withOptions((options) => ({ ...options, streamPrefix: '' }));
export const IgnoresBatchSize = withOptions((options) => ({ ...options, batchSize: 1_000 }));
export const IgnoresSignal = withOptions((options) => ({ ...options, signal: new AbortController().signal }));

/** Catches up and then falls asleep for good. */
export class DeafToAppends extends InMemoryEventStore {
  protected override nextAppend(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
}
