import { expect, test } from '@jest/globals';
import { collecting } from '../../../application/audit/difference.ts';
import { SqlFrozenEvents } from '../../../application/audit/frozen-events.ts';
import { Orphans } from '../../../application/audit/orphans.ts';
import { openServiceDatabase, raw } from '../../support/sql/temporary-database.ts';

const MISPLACED = 4_500;

test('each delivery without its event is told, however many there are', async () => {
  const { database, close } = await openServiceDatabase();
  try {
    await database.transaction([
      raw(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MISPLACED})
         insert into webhook_delivery
           (webhook_id, delivery_id, event_id, sequence, status, attempts, scheduled_attempts, created_at)
         select 'w' || i % 3, 'd' || i, 'e' || i, 0, 'pending', 0, 0, '2026-01-15T12:00:00.000Z' from n`,
      ),
    ]);
    const { differences, report } = collecting();
    const stores = { frozen: new SqlFrozenEvents(database), report } as Partial<
      ConstructorParameters<typeof Orphans>[0]
    >;
    await new Orphans(stores as never).checkDeliveries('2026-01-15T12:00:00.000Z', 0);
    expect(new Set(differences.map(({ what }) => what)).size).toBe(MISPLACED);
    expect(differences).toHaveLength(MISPLACED);
  } finally {
    await close();
  }
});
