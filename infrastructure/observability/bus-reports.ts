export interface DeadLetterCount {
  readonly topic: string;
  readonly group: string;
  readonly count: number;
}

export interface TopicProblem {
  readonly topic: string;
  /** In which it is not as it should be. */
  readonly setting: string;
}

/** What an event bus tells of itself. It is made before the metrics, because the bus is open before them. */
export class BusReports {
  readonly #counts = new Map<string, DeadLetterCount>();
  readonly #short = new Map<string, readonly string[]>();

  deadLettered(topic: string, group: string): void {
    const key = `${topic} ${group}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { topic, group, count });
  }

  topicChecked(topic: string, short: readonly string[]): void {
    this.#short.set(topic, short);
  }

  deadLetters(): readonly DeadLetterCount[] {
    return [...this.#counts.values()];
  }

  /** As the topics were when they were last looked at. */
  topicProblems(): readonly TopicProblem[] {
    return [...this.#short].flatMap(([topic, short]) => short.map((setting) => ({ topic, setting })));
  }
}
