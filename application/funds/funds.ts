import { randomUUID } from 'node:crypto';
import { fundNamesDecider, isFundId } from '../../domain/fund/names.ts';
import type { FundNames } from '../../domain/fund/names.ts';
import type { FundId } from '../../domain/shared/identifiers.ts';
import { actorNamed } from '../command-handling/actors.ts';
import type { Clients } from '../clients/clients.ts';
import { FUND_NAMES_STREAM } from '../command-handling/operation.ts';
import {
  CHAIN_START,
  chainEvents,
  decodeFundEvent,
  encodeEvent,
  notEarlier,
} from '../event-codec/event-codec.ts';
import { EarlierReleaseError } from '../event-codec/stored-formats.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import type { Loans } from '../loans/loans.ts';
import type { BusinessClock } from '../ports/clock.ts';
import { ConcurrencyError } from '../ports/event-store.ts';
import type { EventStore } from '../ports/event-store.ts';
import { retry, retryAppend } from '../support/retry.ts';
import type { RetryPolicy } from '../support/retry.ts';

interface Dependencies {
  readonly events: Pick<EventStore, 'read' | 'append'>;
  readonly clock: BusinessClock;
  readonly formats: Pick<StoredFormats, 'forReleaseWithoutNames'>;
  readonly pause: (ms: number) => Promise<void>;
  readonly clients: () => Pick<Clients, 'funds'>;
  readonly loans: () => Pick<Loans, 'knowsFund'>;
}

export interface ListedFund {
  readonly fundId: string;
  readonly name: string | null;
}

interface NamingRequest {
  readonly fundId: string;
  readonly name: string;
  /** Who names it, as it is recorded. */
  readonly operator: string;
}

/** Somebody else named a fund meanwhile. */
const OVERTAKEN: RetryPolicy = {
  pausesMs: [0, 10, 50, 200, 500],
  mayPass: (error) => error instanceof ConcurrencyError,
};

const NOT_BESIDE_EARLIER =
  'processes of a release that knows no names of funds may still run; when none does, run `receivables upgrade finish` first';

/** Funds and how people call them. */
export class Funds {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async names(): Promise<FundNames> {
    return (await this.#read()).names;
  }

  /** Those that an application is linked to, and those that have a name. */
  async list(): Promise<readonly ListedFund[]> {
    const [linked, names] = await Promise.all([this.#deps.clients().funds(), this.names()]);
    return [...new Set([...linked, ...names.keys()])].toSorted().map((fundId) => ({
      fundId,
      name: names.get(fundId) ?? null,
    }));
  }

  /** The fund that an id or an exact name means: undefined where it has no name, no operation, and no application that is linked to it. */
  async find(idOrName: string): Promise<string | undefined> {
    const id = idOrName.toLowerCase();
    if (isFundId(id) && (await this.#deps.loans().knowsFund(id))) return id;
    for (const [fundId, name] of await this.names()) if (fundId === id || name === idOrName) return fundId;
    return undefined;
  }

  /**
   * Nothing is stored where it has this name already.
   * @throws DomainError `validation_error` for a name that breaks the rules, `fund_not_allowed` where another fund has it
   * @throws EarlierReleaseError
   */
  async name(request: NamingRequest): Promise<void> {
    const { formats, pause } = this.#deps;
    if (await formats.forReleaseWithoutNames()) throw new EarlierReleaseError(NOT_BESIDE_EARLIER);
    await retry(() => this.#append(request), OVERTAKEN, pause);
  }

  async #read() {
    const { events, revision } = await this.#deps.events.read(FUND_NAMES_STREAM);
    const names = events
      .map(decodeFundEvent)
      .reduce((before, event) => fundNamesDecider.evolve(before, event), fundNamesDecider.initialState);
    return { names, revision, last: events.at(-1)?.metadata };
  }

  async #append({ fundId, name, operator }: NamingRequest): Promise<void> {
    const { events, clock, pause } = this.#deps;
    const { names, revision, last } = await this.#read();
    const id = fundId as FundId;
    const now = notEarlier(clock.now(), last?.recordedAt);
    const [named] = fundNamesDecider.decide({ type: 'NameFund', fundId: id, name, now }, names);
    if (named === undefined) return;
    const cause = randomUUID();
    const metadata = {
      ...{ correlationId: cause, causationId: cause, actor: actorNamed(operator) },
      ...{ applicationId: '', recordedAt: now, fundId },
    };
    const stored = chainEvents(last?.hash ?? CHAIN_START, FUND_NAMES_STREAM, [
      { id: randomUUID(), ...encodeEvent(named), metadata },
    ]);
    await retryAppend(() => events.append(FUND_NAMES_STREAM, revision, stored), pause);
  }
}
