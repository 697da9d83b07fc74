import type { PublicEvent } from '../ports/event-bus.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { EVENT_COLUMNS } from '../sql/schema.ts';

const IDS_AT_ONCE = 5_000;

const published = (
  row: Omit<PublicEvent, 'fundId' | 'code'> & Readonly<Record<'fundId' | 'code', string | null>>,
): PublicEvent => ({ ...row, fundId: row.fundId ?? '', code: row.code ?? '' });

interface MisplacedDelivery {
  readonly webhookId: string;
  readonly deliveryId: string;
}

export type FrozenPeriod = { readonly before: string } | { readonly from: string };

const boundOf = (period: FrozenPeriod): { readonly operator: '<' | '>='; readonly instant: string } =>
  'before' in period ? { operator: '<', instant: period.before } : { operator: '>=', instant: period.from };

/** Events as the delivery log keeps them. Those without a code are pings, which no operation caused. */
export class SqlFrozenEvents {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async find(eventIds: readonly string[]): Promise<ReadonlyMap<string, PublicEvent>> {
    const found = new Map<string, PublicEvent>();
    for (let at = 0; at < eventIds.length; at += IDS_AT_ONCE) {
      const ids = eventIds.slice(at, at + IDS_AT_ONCE);
      const query = this.#events().where('event_id', 'in', ids);
      for (const event of await this.#database.read(query)) found.set(event.eventId, published(event));
    }
    return found;
  }

  async page(period: FrozenPeriod, after: string, limit: number): Promise<readonly PublicEvent[]> {
    const { operator, instant } = boundOf(period);
    const query = this.#events()
      .where('event_id', '>', after)
      .where('code', 'is not', null)
      .where('occurred_at', operator, instant)
      .orderBy('event_id')
      .limit(limit);
    return (await this.#database.read(query)).map(published);
  }

  async count(period: FrozenPeriod): Promise<number> {
    const { operator, instant } = boundOf(period);
    const [row] = await this.#database.read(
      this.#database.builder
        .selectFrom('webhook_event')
        .select((eb) => eb.fn.countAll<number>().as('events'))
        .where('code', 'is not', null)
        .where('occurred_at', operator, instant),
    );
    return row!.events;
  }

  /** In the order of the key of deliveries, so that all pages walk over the table once. */
  async misplacedDeliveries(after: MisplacedDelivery | undefined, limit: number) {
    return this.#database.read(
      this.#database.builder
        .selectFrom('webhook_delivery as d')
        .leftJoin('webhook_event as e', 'e.event_id', 'd.event_id')
        .select([
          'd.webhook_id as webhookId',
          'd.delivery_id as deliveryId',
          'd.event_id as eventId',
          'e.code',
        ])
        .where((eb) => eb.or([eb('e.event_id', 'is', null), eb('d.sequence', '<>', eb.ref('e.sequence'))]))
        .$if(after !== undefined, (q) =>
          q.where((eb) =>
            eb(
              eb.refTuple('d.webhook_id', 'd.delivery_id'),
              '>',
              eb.tuple(after!.webhookId, after!.deliveryId),
            ),
          ),
        )
        .orderBy('d.webhook_id')
        .orderBy('d.delivery_id')
        .limit(limit),
    );
  }

  #events() {
    return this.#database.builder.selectFrom('webhook_event').select(EVENT_COLUMNS);
  }
}
