import type { Logger } from '../../application/ports/logger.ts';
import type { RangeRedeliveries } from '../../application/webhooks/queue/range-redeliveries.ts';

interface Options {
  readonly ranges: RangeRedeliveries;
  readonly logger: Logger;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
  /** There is something to send for these subscriptions. */
  readonly onQueued: (webhookIds: readonly string[]) => void;
  /** How often to look for what another process began, answered or left behind. */
  readonly lookEveryMs: number;
}

/**
 * Keeps redeliveries of a span of time going: whenever one of their attempts was answered here, and now and then. Any number of processes
 * may do this beside each other, and any of them goes on with what another has left.
 */
export class RedeliveryFeeder {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;
  #feeding: Promise<void> | undefined;
  #takingOver: Promise<void> | undefined;
  /** Webhooks at which something may have changed. */
  #changed = new Set<string>();
  /** Time to look for what only others know. */
  #due = false;
  #stopped = true;
  /** How far those had come at the last look whose deliveries were still being selected. */
  #selecting: ReadonlyMap<string, number> = new Map();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#stopped = false;
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#feeding, this.#takingOver]);
  }

  /** Something may have changed at these webhooks. */
  wake(webhookIds: readonly string[]): void {
    for (const webhookId of webhookIds) this.#changed.add(webhookId);
    this.#go();
  }

  #look(): void {
    this.#timer = setTimeout(() => this.#look(), this.#options.lookEveryMs);
    this.#due = true;
    this.#go();
  }

  #go(): void {
    if (!this.#stopped) this.#feeding ??= this.#feed();
  }

  async #feed(): Promise<void> {
    // Not before the promise is kept, which the last line lets go of.
    await Promise.resolve();
    while (!this.#stopped && (this.#due || this.#changed.size > 0)) {
      if (this.#due) await this.#noted(() => this.#lookAround());
      this.#due = false;
      const changed = this.#changed;
      this.#changed = new Set();
      // A step of each in turn, for as long as it changes something.
      for (const webhookId of changed) await this.#noted(() => this.#step(webhookId));
    }
    this.#feeding = undefined;
  }

  /** What fails is tried again at the next look, and holds up no other. */
  async #noted(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.error({ err: error }, 'webhooks: a redelivery does not go on');
    }
  }

  async #step(webhookId: string): Promise<void> {
    const { ranges, onQueued } = this.#options;
    if (!(await ranges.step(webhookId, this.#instant()))) return;
    this.#changed.add(webhookId);
    onQueued([webhookId]);
  }

  /** Ends what runs for nobody any more, and selects for whoever stopped in the middle of it. */
  async #lookAround(): Promise<void> {
    const { ranges } = this.#options;
    const running = await ranges.running();
    for (const { webhook_id: webhookId } of running) this.#changed.add(webhookId);
    if (running.length > 0) await ranges.cancelRemoved(this.#instant());
    const selecting = running.filter(({ selected_to: at }) => at !== null);
    const before = this.#selecting;
    this.#selecting = new Map(selecting.map(({ redelivery_id: id, version }) => [id, version]));
    const left = selecting.filter(({ redelivery_id: id, version }) => before.get(id) === version);
    if (left.length > 0) this.#takingOver ??= this.#takeOver(left);
  }

  /** Beside the steps of others: there may be a million deliveries to select. */
  async #takeOver(left: Awaited<ReturnType<RangeRedeliveries['running']>>): Promise<void> {
    const { ranges } = this.#options;
    for (const { redelivery_id: id, webhook_id: webhookId } of left) {
      await this.#noted(async () => {
        while (!this.#stopped && (await ranges.selectSome(id, this.#instant())));
      });
      this.wake([webhookId]);
    }
    this.#takingOver = undefined;
  }

  #instant(): string {
    return new Date(this.#options.now()).toISOString();
  }
}
