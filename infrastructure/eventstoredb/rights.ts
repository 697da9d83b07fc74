import { randomUUID } from 'node:crypto';
import type { EventSubscription, EventToAppend, JsonText } from '../../application/ports/event-store.ts';
import { ConcurrencyError } from '../../application/ports/event-store.ts';
import { messageOf } from '../../application/support/failures.ts';
import { within } from '../support/time.ts';
import { CLAIM_STREAM_PREFIX } from './key-claims.ts';
import { endOf } from './log-reading.ts';
import { OWN_STREAMS } from './log-subscription.ts';
import type { StreamAppender } from './stream-appender.ts';
import type { StreamReader } from './stream-reader.ts';

interface Tools {
  readonly appender: StreamAppender;
  readonly reader: StreamReader;
  readonly subscription: EventSubscription;
  /** For each of them. */
  readonly patienceMs: number;
}

const PROBED = 'rights-probe';
/** No stream comes so far, so an append behind it is refused for that when it is not refused before. */
const NEVER_REACHED = 2n ** 40n;

const probe = (): EventToAppend => ({
  id: randomUUID(),
  type: 'probe.v1',
  data: '{}' as JsonText,
  metadata: { correlationId: '', causationId: '', actor: '', applicationId: '', recordedAt: '', hash: '' },
});

const tryAppend = async ({ appender }: Tools, stream: string): Promise<void> => {
  try {
    await appender.append(stream, NEVER_REACHED, [probe()]);
  } catch (error) {
    if (!(error instanceof ConcurrencyError)) throw error;
  }
};

const follow = async ({ reader, subscription }: Tools): Promise<void> => {
  const stopping = new AbortController();
  const from = (await endOf(reader))?.position ?? 'start';
  try {
    for await (const _ of subscription.subscribe({ from, signal: stopping.signal })) return;
  } finally {
    stopping.abort();
  }
};

/** Does what the service has to be allowed to do, in a way that stores nothing; `failure` where the server says no, or nothing. */
export const tryRights = async (tools: Tools) => {
  const { reader, patienceMs } = tools;
  const prefixes = [...OWN_STREAMS, CLAIM_STREAM_PREFIX];
  const rights: readonly (readonly [right: string, attempt: () => Promise<unknown>])[] = [
    ...prefixes.map(
      (prefix) => [`append to ${prefix}…`, () => tryAppend(tools, `${prefix}${PROBED}`)] as const,
    ),
    ...prefixes.map((prefix) => [`read ${prefix}…`, () => reader.last(`${prefix}${PROBED}`)] as const),
    ['read $all', () => endOf(reader)],
    ['subscribe to $all', () => follow(tools)],
  ];
  const tried: { readonly right: string; readonly failure?: string }[] = [];
  // One after the other: a server may end the call that carries all appends when it refuses one of them.
  for (const [right, attempt] of rights) {
    try {
      await within(patienceMs, right, attempt());
      tried.push({ right });
    } catch (error) {
      tried.push({ right, failure: messageOf(error) });
    }
  }
  return tried;
};
