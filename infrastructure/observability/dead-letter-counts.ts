export interface DeadLetterCount {
  readonly topic: string;
  readonly group: string;
  readonly count: number;
}

/** Counts what an event bus puts aside. It is made before the metrics, because the bus is open before them. */
export class DeadLetterCounts {
  readonly #counts = new Map<string, DeadLetterCount>();

  deadLettered(topic: string, group: string): void {
    const key = `${topic} ${group}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { topic, group, count });
  }

  counts(): readonly DeadLetterCount[] {
    return [...this.#counts.values()];
  }
}
