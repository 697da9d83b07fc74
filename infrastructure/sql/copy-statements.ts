import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { CopyState } from '../../application/ports/projection-copies.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { otherSlot, physicalName } from './read-model-slots.ts';
import type { Slot } from './slot.ts';
import type { Schema } from './schema.ts';
import { GuardFailedError } from './sql-database.ts';
import type { SqlDatabase, Statement } from './sql-database.ts';

/** Where both copies are, and which of them is which. */
export interface SlotPlaces {
  readonly live:
    { readonly version: number; readonly position: LogPosition | 'start'; readonly slot: Slot } | undefined;
  readonly copy:
    | {
        readonly version: number;
        readonly position: LogPosition | 'start';
        readonly slot: Slot;
        readonly state: CopyState;
      }
    | undefined;
}

export const START = '';
export const stored = (position: LogPosition | 'start'): string => (position === 'start' ? START : position);
export const place = (position: string): LogPosition | 'start' =>
  position === START ? 'start' : (position as LogPosition);

/** PostgreSQL deletes row by row, for longer than a statement may take; SQLite drops the pages of a table. */
export const emptied = (
  { builder, dialect }: SqlDatabase,
  { tables }: Projection,
  slot: Slot,
): readonly Statement[] => {
  if (tables.length === 0) return [];
  const names = tables.map((table) => sql.table(physicalName(table, slot)));
  if (dialect === 'sqlite')
    return names.map((name) => ({ query: sql`delete from ${name}`.compile(builder) }));
  return [{ query: sql`truncate ${sql.join(names)}`.compile(builder) }];
};

/** The copy serves from here on and what served is kept; both must still be where they were seen. */
export const switchStatements = (
  builder: Kysely<Schema>,
  name: string,
  { live, copy }: SlotPlaces,
): readonly Statement[] => {
  if (!copy) throw new GuardFailedError(0, 0);
  const { slot, version, position } = copy;
  const serve = live
    ? builder
        .updateTable('projection_checkpoint')
        .set({ slot, version, position: stored(position) })
        .where('name', '=', name)
        .where('slot', '=', live.slot)
        .where('version', '=', live.version)
        .where('position', '=', stored(live.position))
    : builder
        .insertInto('projection_checkpoint')
        .values({ name, slot, version, position: stored(position) })
        .onConflict((conflict) => conflict.column('name').doNothing());
  const keep = builder
    .updateTable('projection_copy')
    .set({
      slot: otherSlot(slot),
      version: live?.version ?? version,
      position: stored(live?.position ?? 'start'),
      state: 'old',
    })
    .where('name', '=', name)
    .where('slot', '=', slot)
    .where('state', '!=', 'old')
    .where('position', '=', stored(position));
  return [serve, keep].map((query) => ({ query: query.compile(), expectChanges: 1 }));
};
