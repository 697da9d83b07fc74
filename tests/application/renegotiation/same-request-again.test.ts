import { describe, expect, test } from '@jest/globals';
import type { AskedRenegotiation } from '../../../application/renegotiation/request.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { cents } from '../../../domain/shared/money.ts';
import { loanCode } from '../../domain/support/renegotiation-story.ts';
import { NOW, context } from '../../support/application-parts.ts';
import {
  activation,
  command,
  logOf,
  newProposal,
  pay,
  renegotiation,
  startProcess,
  streamOf,
  typesOf,
  withDocument,
  worldWith,
} from '../../support/renegotiation-world.ts';

describe('the code of an original as an idempotency key', () => {
  test('the same request answers the state of today, in any process, whatever the new operation has become', async () => {
    const { process, another } = await worldWith('L1');
    await process.renegotiation.renegotiate(context(), renegotiation());
    for (const step of activation) await command(process.commands, 'N1', step);
    for (const each of [process, another()]) {
      expect(await each.renegotiation.renegotiate(context(), renegotiation())).toMatchObject({
        replayed: true,
        result: { newProposal: { code: 'N1', status: 'active' }, processedAt: NOW },
      });
    }
  });

  test('the order of the originals makes no other request', async () => {
    const { process } = await worldWith('L1', 'L2');
    await process.renegotiation.renegotiate(context(), renegotiation(['L1', 'L2'], withDocument()));
    const again = await process.renegotiation.renegotiate(
      context(),
      renegotiation(['L2', 'L1'], withDocument()),
    );
    expect(again).toMatchObject({ replayed: true, result: { originalProposalCodes: ['L1', 'L2'] } });
  });

  test.each<readonly [string, AskedRenegotiation]>([
    ['date', renegotiation(['L1'], { effectiveDate: calendarDate('2026-06-21') })],
    ['value', renegotiation(['L1'], { newProposal: newProposal({ acquisitionValue: cents(1) }) })],
    ['new code', renegotiation(['L1'], { newProposal: newProposal({ code: loanCode('N2') }) })],
    ['set of originals', renegotiation(['L1', 'L2'])],
    ['document', renegotiation(['L1'], withDocument())],
  ])('another %s conflicts', async (_, input) => {
    const { process } = await worldWith('L1', 'L2');
    await process.renegotiation.renegotiate(context(), renegotiation());
    await expect(process.renegotiation.renegotiate(context(), input)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('a conflict is found before an unknown operation is', async () => {
    const { process } = await worldWith('L1');
    await process.renegotiation.renegotiate(context(), renegotiation());
    await expect(
      process.renegotiation.renegotiate(context(), renegotiation(['L9', 'L1'])),
    ).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('identical requests at once: one executes, the others wait and replay', async () => {
    const { store, process, another } = await worldWith('L1', 'L2');
    const input = renegotiation(['L1', 'L2'], withDocument());
    const all = await Promise.all(
      [process, process, another(), another()].map(({ renegotiation: one }) =>
        one.renegotiate(context(), input),
      ),
    );
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    const log = await logOf(store);
    const commits = log.filter(({ type }) => type === 'renegotiation.committed.v1');
    expect(commits).toHaveLength(1);
  });

  test.each(['L1', 'L2', 'N1'])(
    'a request that is carried out elsewhere just before %s is read replays, too',
    async (code) => {
      const { store, documents, process } = await worldWith('L1', 'L2');
      const input = renegotiation(['L1', 'L2'], withDocument());
      let elsewhere: Promise<unknown> | undefined;
      const overtaken = new Proxy(store, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== 'function') return value;
          if (name !== 'read') return value.bind(target) as unknown;
          return async (stream: string, from?: bigint) => {
            if (stream === streamOf(code))
              await (elsewhere ??= process.renegotiation.renegotiate(context(), input));
            return target.read(stream, from);
          };
        },
      });
      const slow = startProcess(overtaken, { documents });
      expect(await slow.renegotiation.renegotiate(context(), input)).toMatchObject({ replayed: true });
      expect(elsewhere).toBeDefined();
    },
  );

  test('different requests for one operation at once: one wins, the others conflict', async () => {
    const { process, another } = await worldWith('L1', 'L2', 'L3');
    const wish = (code: string, ...originals: readonly string[]) =>
      renegotiation(originals, {
        ...withDocument(),
        newProposal: newProposal({ ...withDocument().newProposal, code: loanCode(code) }),
      });
    const settled = await Promise.allSettled([
      process.renegotiation.renegotiate(context(), wish('N1', 'L1', 'L2')),
      another().renegotiation.renegotiate(context(), wish('N2', 'L2', 'L3')),
      another().renegotiation.renegotiate(context(), wish('N3', 'L3', 'L1')),
    ]);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of settled) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'idempotency_conflict' });
    }
  });

  test('payments at the same time come before it or are refused, and none is lost', async () => {
    const { store, process, another } = await worldWith('L1');
    const codes = ['001', '002', '003', '004'];
    const paying = codes.map((code) => pay(another().commands, 'L1', code));
    const [renegotiated, ...paid] = await Promise.allSettled([
      process.renegotiation.renegotiate(context(), renegotiation()),
      ...paying,
    ]);
    expect(renegotiated.status).toBe('fulfilled');
    const accepted = paid.filter(({ status }) => status === 'fulfilled').length;
    const log = await typesOf(store, 'L1');
    expect(log.filter((type) => type === 'InstallmentSettled')).toHaveLength(accepted);
    expect(log.lastIndexOf('InstallmentSettled')).toBeLessThan(log.indexOf('LoanRenegotiated'));
  });
});
