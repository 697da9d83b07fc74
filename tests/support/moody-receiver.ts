import type { Authority } from './certificates.ts';
import type { Random } from './random.ts';
import { TlsReceiver } from './tls-receiver.ts';
import type { Answer } from './tls-receiver.ts';

interface Seen {
  readonly code: string;
  readonly event: string;
  readonly eventId: string;
}

/** A receiver of webhooks that meets each delivery in one of five moods, until it is told to be calm. */
export class MoodyReceiver {
  /** How often it was difficult, by kind. */
  readonly trouble = { status: 0, silence: 0, cut: 0, late: 0 };
  /** Answered with 200, whether or not the service lived to read it. */
  readonly #accepted: Seen[] = [];
  readonly #bodies = new Map<string, Set<string>>();
  readonly #random: Random;
  readonly #patienceMs: number;
  #server: TlsReceiver | undefined;
  #calm = false;

  private constructor(random: Random, patienceMs: number) {
    this.#random = random;
    this.#patienceMs = patienceMs;
  }

  /** @param patienceMs how long the service waits for an answer; late answers come before that, most of the time */
  static async start(ca: Authority, random: Random, patienceMs: number): Promise<MoodyReceiver> {
    const receiver = new MoodyReceiver(random, patienceMs);
    receiver.#server = await TlsReceiver.start(await ca.leaf());
    receiver.#server.answer = receiver.#answer;
    return receiver;
  }

  get url(): string {
    return this.#server!.url;
  }

  /** Posts that were answered with 200. */
  get acceptedPosts(): number {
    return this.#accepted.length;
  }

  get distinctEvents(): number {
    return this.#bodies.size;
  }

  /** Ids of events that came with different bytes. */
  get contradictions(): readonly string[] {
    return [...this.#bodies].filter(([, texts]) => texts.size > 1).map(([eventId]) => eventId);
  }

  calmDown(): void {
    this.#calm = true;
  }

  /** Names of the events of each operation, in the order in which they were first accepted. */
  eventsByCode(): ReadonlyMap<string, readonly string[]> {
    const ids = new Set<string>();
    const ofOperations = this.#accepted.filter(({ event }) => event !== 'webhook.ping');
    const first = ofOperations.filter(({ eventId }) => !ids.has(eventId) && ids.add(eventId));
    const byCode = Map.groupBy(first, ({ code }) => code);
    return new Map([...byCode].map(([code, seen]) => [code, seen.map(({ event }) => event)]));
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  readonly #answer: Answer = (response, request, socket) => {
    const text = request.body.toString();
    const { originator_proposal_code: code } = JSON.parse(text) as { originator_proposal_code: string };
    const [event, eventId] = [request.headers['x-svc-event'], request.headers['x-svc-event-id']];
    const seen = { code, event: String(event), eventId: String(eventId) };
    this.#bodies.set(seen.eventId, (this.#bodies.get(seen.eventId) ?? new Set()).add(text));
    const accept = (): void => {
      this.#accepted.push(seen);
      response.writeHead(200).end();
    };
    const mood = this.#calm ? 1 : this.#random.next();
    if (mood < 0.1) {
      this.trouble.status++;
      response.writeHead(this.#random.pick([500, 502, 503, 429])).end();
    } else if (mood < 0.13) {
      this.trouble.silence++;
    } else if (mood < 0.2) {
      this.trouble.cut++;
      socket.destroy();
    } else if (mood < 0.3) {
      this.trouble.late++;
      setTimeout(accept, this.#random.next() * 0.6 * this.#patienceMs);
    } else accept();
  };
}
