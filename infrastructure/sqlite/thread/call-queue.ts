export interface Call<Request, Reply> {
  readonly request: Request;
  /** Its size, as far as it matters for memory. */
  readonly characters: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export interface QueueLimits {
  readonly maxCalls: number;
  readonly maxCharacters: number;
}

/** Calls that wait for a thread or for its answer, bounded in number and in size. */
export class CallQueue<Request, Reply> {
  readonly #limits: QueueLimits;
  #calls: Call<Request, Reply>[] = [];
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

  add(call: Call<Request, Reply>): void {
    this.#calls.push(call);
    this.#characters += call.characters;
  }

  take(atMost: number): readonly Call<Request, Reply>[] {
    const taken = this.#calls.splice(0, atMost);
    for (const call of taken) this.#characters -= call.characters;
    return taken;
  }

  rejectAll(error: Error): void {
    for (const call of this.take(this.length)) call.reject(error);
  }
}
