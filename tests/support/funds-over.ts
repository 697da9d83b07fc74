import { Funds } from '../../application/funds/funds.ts';
import { InMemoryEventStore } from './in-memory-event-store.ts';
import { ALONE, fixedClock } from './application-parts.ts';

type Parts = ConstructorParameters<typeof Funds>[0];

/** Funds over a log of their own, where a test does not hand over another one. */
export const fundsOver = (parts: Partial<Parts>): Funds =>
  new Funds({
    events: new InMemoryEventStore(),
    clock: fixedClock(),
    formats: ALONE,
    pause: () => Promise.resolve(),
    clients: () => ({ funds: () => Promise.resolve([]) }),
    loans: () => ({ knowsFund: () => Promise.resolve(true) }),
    ...parts,
  });
