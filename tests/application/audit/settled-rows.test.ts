import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditBatch } from '../../../application/audit/audit-batch.ts';
import { collecting } from '../../../application/audit/difference.ts';
import type { Difference } from '../../../application/audit/difference.ts';
import type { OperationAudit } from '../../../application/audit/operation-audit.ts';
import { SettledRows } from '../../../application/audit/settled-rows.ts';
import type { ReadModel } from '../../../application/audit/settled-rows.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { LogPosition, RecordedEvent } from '../../../application/ports/event-store.ts';
import { numberOf } from '../../../application/projecting/projected-event.ts';

const STREAM = 'loan-app.OP-1';
const END = '7' as LogPosition;
const OPERATION = {
  stream: STREAM,
  events: [{ stream: STREAM, revision: 0n, position: END } as RecordedEvent],
} as unknown as OperationAudit;
const LATE: Difference = {
  ...{ kind: 'read_model', stream: STREAM, revision: 0 },
  ...{ what: 'loan: updated_at', expected: 'now', found: 'before' },
};

let place: LogPosition | 'start';
/** What the log gives each time that it is followed until it is silent. */
let given: readonly (LogPosition | Error)[];
let differs: boolean;

const model: ReadModel = {
  name: 'loans',
  tables: ['loan'],
  catchUp: async () => {
    const [next, ...others] = given;
    given = others;
    if (next instanceof Error) throw next;
    place = next ?? place;
  },
  place: async () => place,
};

const rows = (): SettledRows => {
  const batch = {
    audit: async () => [{ stream: STREAM, operation: OPERATION }],
    compareRows: async (_: unknown, tables: readonly string[]) =>
      new Map(tables.length > 0 && (differs || place !== END) ? [[STREAM, [LATE]]] : []),
  } as unknown as AuditBatch;
  const seals = { numberOf };
  return new SettledRows({ batch, readModels: [model], events: { head: async () => 0n } as never, seals });
};

const compared = async (settled = rows()): Promise<readonly Difference[]> => {
  const { differences, report } = collecting();
  await settled.prepare(report);
  await settled.compare([OPERATION], report);
  return differences;
};

beforeEach(() => {
  place = 'start';
  given = [];
  differs = false;
});

describe('rows that are behind', () => {
  test('are no difference where the log was taken for ended four times before it was', async () => {
    given = ['1', '2', '3', '5', '7'] as LogPosition[];
    expect(await compared()).toEqual([]);
  });

  test('end the audit where the log keeps what it holds', async () => {
    given = ['1'] as LogPosition[];
    await expect(compared()).rejects.toThrow(StoreUnavailableError);
  });

  test('end the audit where the log is away while they are looked at again', async () => {
    given = ['1' as LogPosition, new StoreUnavailableError('away')];
    await expect(compared()).rejects.toThrow('away');
  });

  test('end the audit where the log is away from the beginning', async () => {
    given = [new StoreUnavailableError('away')];
    await expect(compared()).rejects.toThrow('away');
  });

  test('are one difference, and not compared, where the read model cannot take what comes', async () => {
    given = ['1' as LogPosition, new RangeError('no place of this log')];
    expect(await compared()).toEqual([
      expect.objectContaining({ what: 'loans', found: 'no place of this log', stream: '' }),
    ]);
  });

  test('and rows that differ though nothing is behind are a difference', async () => {
    differs = true;
    given = [END];
    expect(await compared()).toEqual([LATE]);
  });
});
