import { pause } from '../../infrastructure/support/time.ts';
import type { ApiClient } from './api-client.ts';

const PATIENCE_MS = 120_000;

interface FedEvent {
  readonly event: string;
  readonly event_id: string;
  readonly originator_proposal_code: string;
}

/** Reads the feed by pages of seven, whatever becomes of the service meanwhile, and goes on from where it was. */
export class FeedFollower {
  readonly #api: ApiClient;
  readonly #events: FedEvent[] = [];
  readonly #running: Promise<void>;
  #after: string | null = null;
  #done = false;

  constructor(api: ApiClient) {
    this.#api = api;
    this.#running = this.#follow();
    this.#running.catch(() => undefined);
  }

  get ids(): readonly string[] {
    return this.#events.map(({ event_id: id }) => id);
  }

  eventsOf(code: string): readonly string[] {
    return this.#events.filter(({ originator_proposal_code: of }) => of === code).map(({ event }) => event);
  }

  /** Resolves when it has read all that there is now. @throws what ended it */
  async stop(): Promise<void> {
    this.#done = true;
    await this.#running;
    while (await this.#page());
  }

  async #follow(): Promise<void> {
    while (!this.#done) if (!(await this.#page())) await pause(5);
  }

  /** Whether there is more. @throws Error for an answer that says neither what there is nor to ask again */
  async #page(): Promise<boolean> {
    const from = this.#after === null ? '' : `&after=${this.#after}`;
    for (const deadline = Date.now() + PATIENCE_MS; ;) {
      const answer = await this.#api.call('GET', `/event?limit=7${from}`).catch(() => undefined);
      if (answer?.status === 200) {
        this.#events.push(...answer.body.data);
        this.#after = answer.body.next_after;
        return answer.body.has_more;
      }
      if ((answer && answer.status < 500 && answer.status !== 429) || Date.now() > deadline)
        throw new Error(`the feed after ${this.#after}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      await pause(50);
    }
  }
}

/** Everything that the feed has, from the first event on. */
export const wholeFeed = async (api: ApiClient): Promise<readonly string[]> => {
  const follower = new FeedFollower(api);
  await follower.stop();
  return follower.ids;
};
