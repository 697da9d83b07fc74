import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PUBLISHED } from '../../../application/publication/catalogue.ts';
import type { LoanEvent } from '../../../domain/loan/events.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { projected } from './projected-events.ts';

const folder = join(import.meta.dirname, '../../fixtures/stored-events');
const events = readdirSync(folder)
  .filter((file) => /^(loan|installment)\./.test(file))
  .map((file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { event: LoanEvent }).event);

test.each(events)('$type has one row in the feed where it is published, and none otherwise', (event) => {
  const [one] = projected({ applicationId: 'app-1', code: 'OP' }, [event], 7);
  const rows = loanProjection
    .project(one!)
    .flatMap((write) => (write.table === 'feed' && write.op === 'insert' ? write.rows : []));
  const { stream, position } = one!;
  expect(rows).toEqual(
    PUBLISHED.has(event.type) ? [{ stream, application_id: 'app-1', position, revision: 7 }] : [],
  );
});
