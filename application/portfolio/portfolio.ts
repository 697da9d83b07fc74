import { LRUCache } from 'lru-cache';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import type { AnalysedPortfolio } from './composition.ts';
import type { HeldPart } from './held.ts';
import { SqlPortfolioPositions } from './portfolio-reader.ts';
import type { FundPosition } from './position.ts';

/** Analyses are small once they are added up; one holds until a read model moves. */
const REMEMBERED = 64;

interface Dependencies {
  readonly database: SqlDatabase;
  /** Resolves when the read model holds everything that was stored before the call. @throws Error when it cannot */
  readonly caughtUp: () => Promise<void>;
  readonly place: () => Promise<string>;
  readonly privacy: () => Pick<Privacy, 'indexed' | 'tell'>;
  readonly documentsOf: (streams: readonly string[]) => Promise<ReadonlyMap<string, string | null>>;
  readonly clock: BusinessClock;
}

interface ShownPosition {
  readonly fundId: string;
  readonly date?: CalendarDate | undefined;
  readonly knownAt?: string | undefined;
}

export class Portfolio {
  readonly #deps: Dependencies;
  readonly #positions: SqlPortfolioPositions;
  readonly #analysed = new LRUCache<string, Promise<AnalysedPortfolio>>({ max: REMEMBERED });

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#positions = new SqlPortfolioPositions(dependencies.database);
  }

  /** With everything that was recorded before the call. By default at the end of today, as it is known now. */
  async show({ fundId, date, knownAt }: ShownPosition): Promise<FundPosition> {
    const { caughtUp, clock } = this.#deps;
    const { positionOf } = await import('./position.ts');
    await caughtUp();
    const request = { fundId, date: date ?? clock.today(), knownAt: knownAt ?? clock.now() };
    return positionOf(this.#positions, request);
  }

  /** With everything that was recorded before; the same answer until something more is. Takes seconds for a large fund. */
  async analyse(fundId: string, date: CalendarDate): Promise<AnalysedPortfolio> {
    const { caughtUp, place } = this.#deps;
    await caughtUp();
    const key = [fundId, date, await place()].join(' ');
    const before = this.#analysed.get(key);
    if (before !== undefined) return before;
    const answer = this.#analyse(fundId, date);
    this.#analysed.set(key, answer);
    answer.catch(() => this.#analysed.delete(key));
    return answer;
  }

  async held(fundId: string, date: CalendarDate, part: HeldPart, most: number) {
    const { caughtUp, database, clock } = this.#deps;
    const { heldOf } = await import('./held.ts');
    await caughtUp();
    const request = { fundId, date, knownAt: clock.now() };
    return heldOf({ database, positions: this.#positions }, request, part, most);
  }

  /** Masked documents of the largest borrowers, by the stream that names each; null for one that was forgotten, or whose key is missing. */
  documentsOf({ concentration }: AnalysedPortfolio): Promise<ReadonlyMap<string, string | null>> {
    return this.#deps.documentsOf(concentration.borrowers.map(({ largest }) => largest.stream));
  }

  async #analyse(fundId: string, date: CalendarDate): Promise<AnalysedPortfolio> {
    const { database, clock } = this.#deps;
    const privacy = this.#deps.privacy();
    const { analysisOf } = await import('./composition.ts');
    await privacy.indexed();
    return analysisOf(
      { database, positions: this.#positions, privacy },
      { fundId, date, knownAt: clock.now() },
    );
  }
}
