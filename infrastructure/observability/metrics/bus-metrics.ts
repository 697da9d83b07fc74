import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** What an event bus tells of itself: messages that were put aside, and topics that are not as they should be. */
export class BusMetrics {
  readonly #deadLetters: Counter<'topic' | 'group'>;
  readonly #problems: Gauge<'topic' | 'setting'>;
  readonly #short = new Map<string, readonly string[]>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#deadLetters = new Counter({
      name: 'receivables_bus_dead_letters_total',
      help: 'Messages that a consumer group could never handle and put aside.',
      labelNames: ['topic', 'group'],
      registers,
    });
    this.#problems = new Gauge({
      name: 'receivables_bus_topic_problems',
      help: '1 for a setting in which a topic of the event bus is not as it should be; the log says how to mend it.',
      labelNames: ['topic', 'setting'],
      registers,
    });
  }

  deadLettered(topic: string, group: string): void {
    this.#deadLetters.inc({ topic, group });
  }

  /** @param short settings in which it is not as it should be now */
  topicChecked(topic: string, short: readonly string[]): void {
    for (const setting of this.#short.get(topic) ?? []) this.#problems.remove({ topic, setting });
    for (const setting of short) this.#problems.set({ topic, setting }, 1);
    this.#short.set(topic, short);
  }
}
