import { createHash } from 'node:crypto';
import { CommandHandler } from '../../application/command-handling/command-handler.ts';
import type { Operation } from '../../application/command-handling/operation.ts';
import type { BorrowerVault } from '../../application/ports/borrower-vault.ts';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import { Renegotiation } from '../../application/renegotiation/renegotiation.ts';
import type { RequestContext } from '../../application/command-handling/request-context.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type {
  RealTime,
  RenegotiationId,
  SealedBorrower,
  Timestamp,
} from '../../domain/shared/identifiers.ts';
import type { Sealed, SealedName, SealedText } from '../../domain/shared/private-text.ts';

export const NOW = '2026-06-20T12:00:00.000Z' as Timestamp;
export const TODAY = '2026-06-20' as CalendarDate;
export const FUND = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60';

/** Both kinds of time at once. */
export type TestClock = BusinessClock & RealClock;

export const fixedClock = (now = NOW, today = TODAY): TestClock => ({
  now: () => now,
  realNow: () => now as string as RealTime,
  today: () => today,
});

export const context = (applicationId = 'app-1', requestId = 'req-1'): RequestContext => ({
  requestId,
  clientId: 'client-1',
  applicationId,
  fundIds: [FUND],
});

/** A process of its own: a handler with its own cache over a store that others may use too. */
export const applicationProcess = (
  events: EventStore,
  clock = fixedClock(),
  more: Partial<ConstructorParameters<typeof Renegotiation>[0]> = {},
) => {
  const cache = new Map<string, Operation>();
  const pause = (): Promise<void> => Promise.resolve();
  const renegotiation = new Renegotiation({
    ...{ events, clock, realClock: clock, pause, vault: openVault, documents: {} as never },
    inspector: { inspect: () => Promise.resolve('pdf') },
    forget: (stream) => cache.delete(stream),
    ...more,
  });
  const resolve = (id: RenegotiationId) => renegotiation.conclusion.resolve(id);
  const { onAppended } = more;
  const commands = new CommandHandler({
    ...{ events, cache, clock, resolve, pause },
    ...(onAppended && { onAppended }),
  });
  return { commands, renegotiation };
};

export const commandHandler = (events: EventStore, clock = fixedClock()): CommandHandler =>
  applicationProcess(events, clock).commands;

export const openlySealed = (stream: string, text: string): Sealed => ({
  sealed: JSON.stringify({ stream, text }) as SealedText,
});

export const sealedName = (stream: string, name: string): SealedName => ({
  ...openlySealed(stream, name),
  digest: `digest of ${name}`,
});

/** Seals reversibly and readably: what is sealed is not the point of the tests that use it. */
export const openVault: BorrowerVault = {
  seal: (stream, borrower) => Promise.resolve(JSON.stringify({ stream, borrower }) as SealedBorrower),
  open: (_stream, sealed) =>
    Promise.resolve(sealed === '' ? undefined : (JSON.parse(sealed) as { borrower: never }).borrower),
  peek: (stream, sealed) => openVault.open(stream, sealed),
  sealText: (stream, text) => Promise.resolve(openlySealed(stream, text)),
  sealNames: (stream, names) => Promise.resolve(names.map((name) => sealedName(stream, name))),
  openTexts: (_stream, texts) =>
    Promise.resolve(texts.map(({ sealed }) => (JSON.parse(sealed) as { text: string }).text)),
  digest: (text) => createHash('sha256').update(text).digest('hex'),
};

/** No process of an earlier release is about. */
export const ALONE = {
  forEarlierRelease: () => Promise.resolve(false),
  forReleaseWithoutNames: () => Promise.resolve(false),
  forReleaseWithoutDesk: () => Promise.resolve(false),
};
/** There may be one. */
export const BESIDE_EARLIER = {
  forEarlierRelease: () => Promise.resolve(true),
  forReleaseWithoutNames: () => Promise.resolve(true),
  forReleaseWithoutDesk: () => Promise.resolve(true),
};
