import { beforeEach, describe, expect, test } from '@jest/globals';
import { PATIENTLY } from '../../../application/administrator/decisions.ts';
import type { RefusedDecision } from '../../../application/administrator/decisions.ts';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { DecisionAnswer } from '../../../application/administrator/answers.ts';
import { RoleError } from '../../../application/desk/rights.ts';
import { OutcomeUnknownError } from '../../../application/ports/event-store.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { LEASE_END, R1, loanCode } from '../../domain/support/renegotiation-story.ts';
import { commandHandler, context, fixedClock } from '../../support/application-parts.ts';
import { administratorOf } from '../../support/administrator.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { command } from '../../support/renegotiation-world.ts';

let store: InMemoryEventStore;
let desk: Administrator;
const clock = fixedClock();

const newDesk = (events = store): Administrator => administratorOf(events, clock);

beforeEach(async () => {
  store = new InMemoryEventStore();
  desk = newDesk();
  for (const application of ['acme', 'other'])
    for (const code of ['OP-1', 'OP-2']) await assign(application, code);
});

const assign = (application: string, code: string) =>
  commandHandler(store).handle({
    stream: `loan-${application}.${code}`,
    applicationId: application,
    actor: 'client-1',
    correlationId: 'req',
    decide: (state) => loanDecider.decide({ ...receiveL1, code: code as LoanCode }, state),
  });
const decision = (id: string, name = 'approve', more: object = {}): string =>
  JSON.stringify({
    decision_id: id,
    application_id: 'acme',
    originator_proposal_code: 'OP-1',
    decision: name,
    ...more,
  });
const submit = async (text: string): Promise<DecisionAnswer> => (await desk.submitAll([text]))[0]!;
const outcomeOf = async (text: string): Promise<string> => {
  const answer = await submit(text);
  return answer.outcome === 'refused' ? answer.reason.code : answer.outcome;
};
const lengthOf = async (stream: string): Promise<number> => (await store.read(stream)).events.length;
const disbursement = { disbursement_date: '2026-01-19', disbursed_value: 10_000 };

describe('a decision', () => {
  test('is carried out once, however often it comes', async () => {
    expect(await outcomeOf(decision('D-1'))).toBe('applied');
    expect(await outcomeOf(decision('D-1'))).toBe('already_applied');
    desk = newDesk();
    expect(await outcomeOf(decision('D-1'))).toBe('already_applied');
    expect(await lengthOf('loan-acme.OP-1')).toBe(2);
  });

  test('that comes again late is still known, and answers the state of now', async () => {
    await desk.submitAll([
      decision('D-1'),
      decision('D-2', 'sign_term'),
      decision('D-3', 'disburse', disbursement),
    ]);
    expect(await submit(decision('D-1'))).toMatchObject({ outcome: 'already_applied', status: 'active' });
  });

  test.each<[string, string]>([
    ['another decision', decision('D-1', 'sign_term')],
    ['another operation', decision('D-1', 'approve', { originator_proposal_code: 'OP-2' })],
    ['an operation of another application', decision('D-1', 'approve', { application_id: 'other' })],
    ['the same with another note', decision('D-1', 'approve', { note: 'hm' })],
  ])('whose id was used for %s is refused', async (_, second) => {
    await submit(decision('D-1'));
    expect(await outcomeOf(second)).toBe('idempotency_conflict');
    expect(await lengthOf('loan-acme.OP-2')).toBe(1);
    expect(await lengthOf('loan-other.OP-1')).toBe(1);
  });

  test('without an effect is refused all the same when its id belongs to another one', async () => {
    const second = decision('D-2', 'approve', { originator_proposal_code: 'OP-2' });
    await desk.submitAll([decision('D-1'), second]);
    expect(await outcomeOf(decision('D-1', 'approve', { originator_proposal_code: 'OP-2' }))).toBe(
      'idempotency_conflict',
    );
  });

  test('that was refused may be mended under its own id', async () => {
    expect(await outcomeOf(decision('D-1', 'sign_term'))).toBe('operation_invalid_state');
    expect(await outcomeOf(decision('D-1'))).toBe('applied');
  });

  test.each<[string, string, string]>([
    [
      'an unknown operation',
      decision('D-1', 'approve', { originator_proposal_code: 'OP-9' }),
      'loan_not_found',
    ],
    ['an unknown application', decision('D-1', 'approve', { application_id: 'nobody' }), 'loan_not_found'],
    ['a step too early', decision('D-1', 'process_repurchase'), 'operation_invalid_state'],
    ['a malformed one', '{', 'validation_error'],
    [
      'one from the future',
      decision('D-1', 'approve', { decided_at: '2026-06-20T12:06:00Z' }),
      'invalid_date',
    ],
    [
      'a disbursement the day after tomorrow',
      decision('D-1', 'disburse', { ...disbursement, disbursement_date: '2026-06-22' }),
      'invalid_date',
    ],
    [
      'a disbursement before the issue',
      decision('D-1', 'disburse', { ...disbursement, disbursement_date: '2026-01-14' }),
      'invalid_date',
    ],
  ])('on %s is refused and changes nothing', async (_, text, code) => {
    expect(await outcomeOf(text)).toBe(code);
    expect(await lengthOf('loan-acme.OP-1')).toBe(1);
  });

  test('keeps its time and its note in the event', async () => {
    await submit(decision('D-1', 'approve', { decided_at: '2026-06-20T11:00:00Z', note: 'committee' }));
    const { events } = await store.read('loan-acme.OP-1');
    expect(JSON.parse(events[1]!.data)).toEqual({
      approved_at: '2026-06-20T12:00:00.000Z',
      decision: { decided_at: '2026-06-20T11:00:00.000Z', note: 'committee' },
    });
  });

  test('repeated at once by several processes is carried out once', async () => {
    const desks = [newDesk(), newDesk(), newDesk()];
    const answers = (await Promise.all(desks.map((one) => one.submitAll([decision('D-1')])))).flat();
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
      'already_applied',
      'already_applied',
      'applied',
    ]);
    expect(await lengthOf('loan-acme.OP-1')).toBe(2);
  });
});

class Flaky extends InMemoryEventStore {
  down = true;
  override append(...args: Parameters<InMemoryEventStore['append']>) {
    const ours = args[2].some(({ type }) => type === 'loan.approved.v1');
    if (this.down && ours && args[0].endsWith('OP-2')) return Promise.reject(new OutcomeUnknownError('away'));
    return super.append(...args);
  }
}

describe('received decisions', () => {
  let letters: RefusedDecision[];
  const process = (
    texts: readonly string[],
    record?: (answers: readonly DecisionAnswer[]) => Promise<void>,
  ) =>
    desk.process(
      texts.map((text, i) => ({ text, origin: `topic/0@${i}` })),
      {
        deadLetters: { put: (refused) => Promise.resolve(void letters.push(refused)) },
        logger: new RecordingLogger(),
        ...(record && { record }),
      },
    );
  beforeEach(() => {
    letters = [];
  });

  test('that are refused lie in the dead letter with their reason and hold nothing up', async () => {
    const malformed = '{"decision_id":"D-2"}';
    const texts = [decision('D-1', 'sign_term'), malformed, decision('D-3')];
    const answers = await process(texts);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'applied']);
    expect(
      letters.map(({ text, origin, decisionId, reason }) => [text, origin, decisionId, reason.code]),
    ).toEqual([
      [texts[0], 'topic/0@0', 'D-1', 'operation_invalid_state'],
      [malformed, 'topic/0@1', 'D-2', 'validation_error'],
    ]);
  });

  test('on one operation keep their order, in any number', async () => {
    const steps = [
      ...Array.from({ length: 100 }, (_, i) => decision(`A-${i}`)),
      decision('B', 'sign_term'),
      decision('C', 'disburse', disbursement),
    ];
    const answers = await process(steps);
    expect(letters).toEqual([]);
    expect(answers.at(-1)).toMatchObject({ outcome: 'applied', status: 'active' });
  });

  test('that meet a store in trouble are thrown back as a whole, and nothing is doubled by giving them again', async () => {
    const flaky = (store = new Flaky());
    for (const code of ['OP-1', 'OP-2']) await assign('acme', code);
    desk = newDesk();
    const texts = [decision('D-1'), decision('D-2', 'approve', { originator_proposal_code: 'OP-2' })];
    await expect(process(texts)).rejects.toThrow('away');
    expect(letters).toEqual([]);
    flaky.down = false;
    expect((await process(texts)).map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
  });

  test('that were refused stay refused when others that came with them have to be tried again', async () => {
    const flaky = (store = new Flaky());
    for (const code of ['OP-1', 'OP-2']) await assign('acme', code);
    desk = newDesk();
    const tooEarly = decision('D-0', 'sign_term');
    const elsewhere = decision('D-2', 'approve', { originator_proposal_code: 'OP-2' });
    const texts = [tooEarly, decision('D-1'), elsewhere];
    await expect(process(texts)).rejects.toThrow('away');
    flaky.down = false;
    const outcomes = (await process(texts)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['refused', 'applied', 'applied']);
    expect(letters.map(({ decisionId }) => decisionId)).toEqual(['D-0']);
    expect(await outcomeOf(tooEarly)).toBe('applied');
  });

  test('that are refused are put aside once, however often what is to be recorded of them is tried', async () => {
    const recorded: string[][] = [];
    const record = (answers: readonly DecisionAnswer[]): Promise<void> => {
      recorded.push(answers.map(({ outcome }) => outcome));
      return recorded.length < 3 ? Promise.reject(new OutcomeUnknownError('away')) : Promise.resolve();
    };
    const texts = ['{', decision('D-1')];
    for (const _ of [1, 2]) await expect(process(texts, record)).rejects.toThrow('away');
    await process(texts, record);
    expect(recorded).toEqual(Array(3).fill(['refused', 'applied']));
    expect(letters.map(({ origin }) => origin)).toEqual(['topic/0@0']);
    await process(['{'], record);
    expect(letters).toHaveLength(2);
  });

  test('on an operation that cannot be read do not hold up the others', async () => {
    await store.append('loan-acme.OP-7', 'no_stream', [
      {
        id: '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f61',
        type: 'loan.received.v99',
        data: '{}' as never,
        metadata: {
          correlationId: 'x',
          causationId: 'x',
          actor: 'x',
          applicationId: 'acme',
          recordedAt: clock.now(),
          hash: '',
        },
      },
    ]);
    const answers = await process([
      decision('D-1', 'approve', { originator_proposal_code: 'OP-7' }),
      decision('D-2'),
    ]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['refused', 'applied']);
    expect(letters[0]?.reason.code).toBe('operation_unreadable');
  });

  test('on a reservation without its renegotiation do not hold up the others', async () => {
    const reserve = { renegotiationId: R1, leaseEndsAt: LEASE_END, code: loanCode('OP-7') };
    await command(commandHandler(store), 'OP-7', { type: 'ReserveLoanCode', ...reserve });
    const { applicationId } = context();
    const answers = await process([
      decision('D-1', 'approve', { application_id: applicationId, originator_proposal_code: 'OP-7' }),
      decision('D-2'),
    ]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['refused', 'applied']);
    expect(letters[0]?.reason.code).toBe('operation_unreadable');
  });
});

test.each([
  ['a refusal of the domain', new DomainError('operation_invalid_state', 'it is settled'), false],
  ['a refusal of a role', new RoleError('decide'), false],
  ['a renegotiation that is being decided', new DomainError('concurrent_modification', 'at once'), true],
  ['a store that is away', new Error('connection refused'), true],
])('%s is waited for where it may pass', (_, error, waits) => {
  expect(PATIENTLY.mayPass(error)).toBe(waits);
});
