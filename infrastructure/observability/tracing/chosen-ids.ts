import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { IdGenerator } from '@opentelemetry/sdk-trace';

interface Choice {
  readonly traceId: string;
  readonly spanId: string | undefined;
}

/** Random ids, but for spans whose place is known beforehand: starting a span takes its ids at once, within the same call. */
export class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #choice: Choice | undefined;

  during<T>(choice: Choice, start: () => T): T {
    this.#choice = choice;
    try {
      return start();
    } finally {
      this.#choice = undefined;
    }
  }

  readonly generateTraceId = (): string => this.#choice?.traceId ?? this.#random.generateTraceId();

  readonly generateSpanId = (): string => this.#choice?.spanId ?? this.#random.generateSpanId();
}
