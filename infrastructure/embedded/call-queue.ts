import type { Cells } from './thread-protocol.ts';

export interface Call {
  readonly request: Cells;
  /** Its size, as far as it matters for memory. */
  readonly characters: number;
  readonly resolve: (reply: Cells) => void;
  readonly reject: (error: Error) => void;
}

export interface QueueLimits {
  readonly maxCalls: number;
  readonly maxCharacters: number;
}

export const rejectAll = (calls: readonly Call[], error: Error): void => {
  for (const call of calls) call.reject(error);
};

/** Calls that wait for a thread, bounded in number and in size. */
export class CallQueue {
  readonly #limits: QueueLimits;
  #calls: Call[] = [];
  #characters = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#calls.length;
  }

  get isFull(): boolean {
    return this.#calls.length >= this.#limits.maxCalls || this.#characters > this.#limits.maxCharacters;
  }

  add(call: Call): void {
    this.#calls.push(call);
    this.#characters += call.characters;
  }

  take(atMost: number): readonly Call[] {
    const taken = this.#calls.slice(0, atMost);
    this.#calls = this.#calls.slice(atMost);
    for (const call of taken) this.#characters -= call.characters;
    return taken;
  }
}
