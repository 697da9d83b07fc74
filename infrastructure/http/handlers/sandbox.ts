import type { ClockMove, SandboxTime } from '../../../application/sandbox/sandbox-clock.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { durationOf } from '../../../application/sandbox/duration.ts';
import { forClient, ok } from '../operation.ts';
import type { Handler } from '../operation.ts';
import { asText } from '../requests/request-rules.ts';
import type { CrossCheck, Draft } from '../requests/request-rules.ts';
import type { UseCases } from '../resources/use-cases.ts';

/** What the schema SandboxClockMove has let through: one of the two. */
interface ClockMoveBody {
  readonly advance?: string | null;
  readonly to?: string | null;
}

const checkMove: CrossCheck = (draft) => {
  const given = ['advance', 'to'].filter((name) => (draft[name] ?? null) !== null);
  if (given.length === 1) return checkInstant(draft);
  const which = given.length === 0 ? 'required' : 'contradictory';
  return [{ field: 'body', code: which, message: 'must hold either advance or to' }];
};

/** RFC 3339 writes leap seconds, which no clock here shows. */
const checkInstant = ({ to }: Draft): readonly FieldViolation[] => {
  const text = asText(to);
  if (text === undefined || !/T\d\d:\d\d:60/i.test(text)) return [];
  return [{ field: 'to', code: 'invalid_date', message: 'must be an instant without a leap second' }];
};

const moveOf = ({ advance, to }: ClockMoveBody): ClockMove =>
  typeof to === 'string' ? { to } : { advanceMs: durationOf(advance ?? '') ?? NaN };

const present = ({ now, offsetMs }: SandboxTime): object => ({ now, offset_seconds: offsetMs / 1_000 });

/** None in production, which publishes no such operations. */
export const sandboxHandlers = ({ sandboxClock }: UseCases): Readonly<Record<string, Handler>> =>
  sandboxClock
    ? {
        readSandboxClock: { run: forClient(async () => ok(present(await sandboxClock.show()))) },
        moveSandboxClock: {
          crossCheck: checkMove,
          run: forClient(async (_, { body }) =>
            ok(present(await sandboxClock.move(moveOf(body as ClockMoveBody)))),
          ),
        },
      }
    : {};
