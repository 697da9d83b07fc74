import { errors } from 'undici';
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
    }
  /** The answer is not read on, because of what came before its status. */
  | { readonly kind: 'refused'; readonly why: string };

type Phase = 'connecting' | 'waiting for the answer' | 'reading the answer';

const MOST_BYTES_READ = 64 * 1024;
const MOST_BYTES_KEPT = 2 * 1024;
const MOST_INTERIM_ANSWERS = 10;
const MOST_INTERIM_BYTES = 16 * 1024;
/** On the line, before a status is there: many times the headers that are taken. */
const LONGEST_START = 64 * 1024;
/** On the line, with whatever stands between the bytes of a body. */
const LONGEST_ANSWER = 512 * 1024;
const LINE_ENDS = 'HTTP/1.1 103 \r\n\r\n'.length;

/** What undici closes a connection for by itself, in its words. */
const REFUSED_BY_UNDICI: Readonly<Record<string, string>> = {
  'bad response': '100 Continue, which nothing had asked for',
  'bad upgrade': 'it switches to another protocol',
};
const SWITCHING_PROTOCOLS = 101;

/** One request and its answer on one connection: notes the status, counts the body, keeps its beginning. */
export class DeliveryRequest implements Dispatcher.DispatchHandler {
  readonly #answer = Promise.withResolvers<DeliveryAnswer>();
  readonly result = this.#answer.promise;
  #over = false;
  #interim = 0;
  #interimBytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #cancelled = false;
  #silent = true;
  #status: number | null = null;
  #bytes = 0;
  readonly #kept: Buffer[] = [];

  /** Its result is known; whatever the connection still brings belongs to no request. */
  get isOver(): boolean {
    return this.#over;
  }

  get #phase(): Phase {
    if (this.#controller === undefined) return 'connecting';
    return this.#status === null ? 'waiting for the answer' : 'reading the answer';
  }

  #resolve(result: DeliveryAnswer): void {
    this.#over = true;
    this.#answer.resolve(result);
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

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    reason = '',
  ): void {
    // Interim answers announce another one.
    if (status >= 200) this.#status = status;
    else this.#noteInterim(status, reason, controller.rawHeaders);
  }

  #noteInterim(status: number, reason: string, headers: Dispatcher.DispatchController['rawHeaders']): void {
    this.#interim += 1;
    this.#interimBytes += LINE_ENDS + reason.length;
    // Names and values in turns, each with two characters behind it.
    if (Array.isArray(headers)) for (const text of headers) this.#interimBytes += text.length + 2;
    if (status === SWITCHING_PROTOCOLS) this.#refuse('it switches to another protocol');
    else if (this.#interim > MOST_INTERIM_ANSWERS)
      this.#refuse(`more than ${MOST_INTERIM_ANSWERS} interim answers`);
    else if (this.#interimBytes > MOST_INTERIM_BYTES)
      this.#refuse(`interim answers of more than ${MOST_INTERIM_BYTES / 1024} KiB`);
  }

  /** @param bytes of the answer that came over the line and were read */
  noteBytes(bytes: number): void {
    if (this.#status === null && bytes > LONGEST_START)
      this.#refuse(`no status in its first ${LONGEST_START / 1024} KiB`);
    else if (bytes > LONGEST_ANSWER) this.#cutOff();
  }

  #refuse(why: string): void {
    this.#resolve({ kind: 'refused', why });
    this.#controller?.abort(new Error(why));
  }

  /** Its status decides, whatever else would come. */
  #cutOff(): void {
    this.#resolve({ kind: 'answered', status: this.#status ?? 0, whole: false });
    this.#controller?.abort(new Error('enough'));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < MOST_BYTES_KEPT) {
      // A copy: a slice would keep the whole chunk in memory.
      this.#kept.push(Buffer.from(chunk.subarray(0, MOST_BYTES_KEPT - this.#bytes)));
    }
    this.#bytes += chunk.length;
    if (this.#bytes <= MOST_BYTES_READ) return;
    this.#cutOff();
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
    // Headers that come behind a status are trailers.
    if (error instanceof errors.HeadersOverflowError && this.#status !== null) return this.#cutOff();
    const why = error instanceof errors.SocketError ? REFUSED_BY_UNDICI[error.message] : undefined;
    if (why !== undefined) return this.#refuse(why);
    this.#resolve({ kind: 'broken', error, status: this.#status, silent: this.#silent });
  }
}
