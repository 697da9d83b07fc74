import type { PublicEvent } from '../ports/event-bus.ts';
import type { Difference } from './difference.ts';
import { shown } from './difference.ts';

const VERSION = /"api_version":"[^"]*"/;

/** A body says which version of the interface it was frozen under; everything else must be as it is made today. */
const underVersionOf = (body: string, frozen: string): string => {
  const [version] = VERSION.exec(frozen) ?? [];
  return version === undefined ? body : body.replace(VERSION, () => version);
};

/** Where two bodies part: a difference in the middle of a long text is easier found from there. */
const firstDifference = (a: string, b: string): number => {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return Math.max(0, at - 20);
};

const FIELDS = ['name', 'applicationId', 'fundId', 'code', 'sequence', 'timestamp'] as const;

/** A public event as the log gives it, and as it was frozen for delivery. */
export const compareDelivery = (
  stream: string,
  made: PublicEvent,
  frozen: PublicEvent,
): readonly Difference[] => {
  const place = { kind: 'delivery', stream, revision: made.sequence } as const;
  const differences = FIELDS.flatMap((field): readonly Difference[] => {
    if (made[field] === frozen[field]) return [];
    const values = { expected: shown(field, made[field]), found: shown(field, frozen[field]) };
    return [{ ...place, what: `${made.eventId}: ${field}`, ...values }];
  });
  if (made.body === frozen.body) return differences;
  const body = underVersionOf(made.body, frozen.body);
  if (body === frozen.body) return differences;
  const from = firstDifference(body, frozen.body);
  const values = { expected: shown('', body.slice(from)), found: shown('', frozen.body.slice(from)) };
  return [...differences, { ...place, what: `${made.eventId}: body`, ...values }];
};
