import type { RecordedEvent } from '../../application/ports/event-store.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Commit, Held, Place, ProcessorStore } from '../../application/processors/processor.ts';
import type { StoreUnderTest } from './processor-contract.ts';

/** A sound store in memory; what is broken in the others is one step of it. */
export class MemoryStore implements ProcessorStore<string>, StoreUnderTest<string> {
  readonly store = this;
  readonly writes: string[] = [];
  protected place: Place = 'start';
  protected held: Held[] = [];

  writeOf = ({ id }: RecordedEvent): string => id;
  stored = async (): Promise<readonly string[]> => this.writes;

  async load(): Promise<{ place: Place; held: readonly Held[] }> {
    return { place: this.place, held: this.held };
  }

  async commit(commit: Commit<string>): Promise<boolean> {
    if (commit.from !== this.place) return false;
    this.write(commit);
    this.hold(commit);
    this.place = commit.to;
    return true;
  }

  protected write({ writes }: Commit<string>): void {
    this.writes.push(...writes);
  }

  protected hold({ holds }: Commit<string>): void {
    for (const one of holds) if (one.kind === 'hold') this.held.push(one.hold);
  }
}

export class TakesAnyPlace extends MemoryStore {
  override commit(commit: Commit<string>): Promise<boolean> {
    return super.commit({ ...commit, from: this.place });
  }
}

export class ForgetsHolds extends MemoryStore {
  protected override hold(): void {}
}

export class SaysStored extends MemoryStore {
  override async commit(): Promise<boolean> {
    return true;
  }
}

/** Every other commit ends between the place and the writes. */
export class PlaceBeforeWrites extends MemoryStore {
  #commits = 0;
  protected override write(commit: Commit<string>): void {
    this.place = commit.to;
    if (this.#commits++ % 2 === 0) throw new StoreUnavailableError('killed in between');
    super.write(commit);
  }
}

/** Every other commit ends between the writes and the place. */
export class WritesBeforePlace extends MemoryStore {
  #commits = 0;
  protected override hold(commit: Commit<string>): void {
    if (this.#commits++ % 2 === 0) throw new StoreUnavailableError('killed in between');
    super.hold(commit);
  }
}
