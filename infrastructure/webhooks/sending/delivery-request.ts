import type { Dispatcher } from 'undici';

/** Why we ended it ourselves: its time was over, or the service stops. */
export type Interruption = 'late' | 'cut_off';

export type DeliveryAnswer =
  | { readonly kind: Interruption; readonly status: number | null; readonly phase: Phase }
  /** `whole`: its end was read. What stands behind the first 64 KiB of a body is cut off unread. */
  | { readonly kind: 'answered'; readonly status: number; readonly whole: boolean }
  | {
      readonly kind: 'broken';
      readonly error: unknown;
      readonly status: number | null;
      /** Not one byte came back. */
      readonly silent: boolean;
    };

type Phase = 'connecting' | 'waiting for the answer' | 'reading the answer';

const MOST_BYTES_READ = 64 * 1024;
const MOST_BYTES_KEPT = 2 * 1024;

/** One request and its answer on one connection: notes the status, counts the body, keeps its beginning. */
export class DeliveryRequest implements Dispatcher.DispatchHandler {
  readonly result: Promise<DeliveryAnswer>;
  #resolve!: (result: DeliveryAnswer) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #cancelled = false;
  #silent = true;
  #status: number | null = null;
  #bytes = 0;
  readonly #kept: Buffer[] = [];

  constructor() {
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get #phase(): Phase {
    if (this.#controller === undefined) return 'connecting';
    return this.#status === null ? 'waiting for the answer' : 'reading the answer';
  }

  interrupt(kind: Interruption): void {
    this.#resolve({ kind, status: this.#status, phase: this.#phase });
  }

  /** Nothing is sent after this, even if it is still waiting for its connection. */
  cancel(): void {
    this.#cancelled = true;
    this.#controller?.abort(new Error('cancelled'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled) controller.abort(new Error('cancelled'));
  }

  onResponseStarted(): void {
    this.#silent = false;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // Provisional answers announce another one.
    if (status >= 200) this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < MOST_BYTES_KEPT) {
      // A copy: a slice would keep the whole chunk in memory.
      this.#kept.push(Buffer.from(chunk.subarray(0, MOST_BYTES_KEPT - this.#bytes)));
    }
    this.#bytes += chunk.length;
    if (this.#bytes <= MOST_BYTES_READ) return;
    this.#resolve({ kind: 'answered', status: this.#status ?? 0, whole: false });
    controller.abort(new Error('enough'));
  }

  /** The first bytes of the body as text that any database can store; undefined when none came. */
  get bodyStart(): string | undefined {
    if (this.#bytes === 0) return undefined;
    // As a stream, so that a character cut in two at the end is left out.
    const text = new TextDecoder().decode(Buffer.concat(this.#kept), { stream: true });
    return text.replaceAll('\0', '\uFFFD');
  }

  onResponseEnd(): void {
    this.#resolve({ kind: 'answered', status: this.#status ?? 0, whole: true });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#resolve({ kind: 'broken', error, status: this.#status, silent: this.#silent });
  }
}
