import { randomUUID } from 'node:crypto';
import { fundNamesDecider, isFundId } from '../../domain/fund/names.ts';
import type { FundNames } from '../../domain/fund/names.ts';
import type { FundId } from '../../domain/shared/identifiers.ts';
import { actorNamed } from '../command-handling/actors.ts';
import type { Clients } from '../clients/clients.ts';
import { FUND_NAMES_STREAM } from '../command-handling/operation.ts';
import { decodeFundEvent } from '../event-codec/event-codec.ts';
import { EarlierReleaseError } from '../event-codec/stored-formats.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import type { Loans } from '../loans/loans.ts';
import { appendDecided, instantAfter, readDecided, untilCurrent } from '../two-people/decided-stream.ts';
import type { StreamParts } from '../two-people/decided-stream.ts';

interface Dependencies extends StreamParts {
  readonly formats: Pick<StoredFormats, 'forReleaseWithoutNames'>;
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
  readonly operator: string;
}

const NOT_BESIDE_EARLIER =
  'processes of a release that knows no names of funds may still run; when none does, run `receivables upgrade finish` first';

export class Funds {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async names(): Promise<FundNames> {
    return (await this.#read()).state;
  }

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

  /** @throws DomainError `validation_error`, `fund_not_allowed` where another fund has it @throws EarlierReleaseError */
  async name({ fundId, name, operator }: NamingRequest): Promise<void> {
    const { formats, clock } = this.#deps;
    if (await formats.forReleaseWithoutNames()) throw new EarlierReleaseError(NOT_BESIDE_EARLIER);
    await untilCurrent(this.#deps, async () => {
      const before = await this.#read();
      const now = instantAfter(clock, before);
      const command = { type: 'NameFund', fundId: fundId as FundId, name, now } as const;
      const caused = fundNamesDecider.decide(command, before.state);
      if (caused.length === 0) return;
      const asked = { actor: actorNamed(operator), decisionId: randomUUID(), fundId, applicationId: '' };
      await appendDecided(this.#deps, before, caused, asked);
    });
  }

  #read() {
    return readDecided(this.#deps.events, FUND_NAMES_STREAM, decodeFundEvent, fundNamesDecider);
  }
}
