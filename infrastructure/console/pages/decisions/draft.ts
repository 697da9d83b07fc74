import type { OperationPlace } from '../../../../application/command-handling/operation.ts';
import { randomUUID } from 'node:crypto';
import type { Administrator } from '../../../../application/administrator/administrator.ts';
import { statusOf } from '../../../../application/administrator/answers.ts';
import type { FoundLoan } from '../../../../application/administrator/answers.ts';
import { isFarOff } from '../../../../application/administrator/decision-guards.ts';
import { isReasonCode } from '../../../../application/publication/description/decision-schema.ts';
import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import type { PendingOperation } from '../../../../application/administrator/worklists.ts';
import type { RejectionReason } from '../../../../domain/loan/events.ts';
import { addDays } from '../../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { amount, amountMeant, centsTyped, dayTyped, date as written, typedAmount } from '../../format.ts';
import { spoken } from '../../language.ts';
import type { Language } from '../../language.ts';
import { keyOf, operationsNamed } from './offered.ts';
import { texts } from './texts.ts';

export interface DraftLine extends OperationPlace {
  /** Undefined where it cannot be read. */
  readonly found: FoundLoan | undefined;
  /** The one that was shown when it was chosen, and stays what the decision is made on; empty where none was. */
  readonly status: string;
  /** Made when the form was: sent twice, it is carried out once. */
  readonly decisionId: string;
  /** As typed. */
  readonly value: string;
  readonly confirmed: string;
}

export interface Draft {
  readonly decision: DecisionName;
  readonly language: Language;
  readonly lines: readonly DraftLine[];
  readonly reasons: readonly RejectionReason[];
  readonly chosenReasons: readonly RejectionReason[];
  readonly date: string;
  readonly note: string;
}

export interface Problem {
  readonly field: 'reason_code' | 'reason_message' | 'date' | 'value' | 'confirmed';
  /** Of a field that there are several of: the operation's key, or the number of the reason. */
  readonly of?: string;
  readonly text: () => string;
}

type Read = Pick<Administrator, 'found'>;

const lineOf = async (
  line: Omit<DraftLine, 'found' | 'decisionId'> & { readonly decisionId?: string | undefined },
  administrator: Read,
): Promise<DraftLine> => ({
  ...line,
  decisionId: line.decisionId ?? randomUUID(),
  found: await administrator.found(line.applicationId, line.code, line.status),
});

/** As the form is at first: each operation disbursed today, at its acquisition value. */
export const newDraft = async (
  decision: DecisionName,
  operations: readonly PendingOperation[],
  today: string,
  administrator: Read,
): Promise<Draft> => ({
  ...{ decision, language: spoken(), reasons: [], chosenReasons: [], date: today, note: '' },
  lines: await Promise.all(
    operations.map(({ applicationId, code, status, acquisitionValue }) =>
      lineOf(
        { applicationId, code, status, value: typedAmount(acquisitionValue), confirmed: '' },
        administrator,
      ),
    ),
  ),
});

export const reasonText = ({ code, message }: RejectionReason): string => JSON.stringify([code, message]);

const reasonIn = (text: string): readonly RejectionReason[] => {
  try {
    const read: unknown = JSON.parse(text);
    if (!Array.isArray(read) || read.length !== 2) return [];
    const [code, message] = read as readonly unknown[];
    return typeof code === 'string' && typeof message === 'string' ? [{ code, message }] : [];
  } catch {
    return [];
  }
};

/** As the form was sent: with every operation that it names, whatever its state is by now. */
export const draftSent = async (
  decision: DecisionName,
  fields: URLSearchParams,
  administrator: Read,
): Promise<Draft> => {
  const [ids, statuses] = [fields.getAll('decision_id'), fields.getAll('status')];
  const [values, confirmed] = [fields.getAll('value'), fields.getAll('confirmed_value')];
  const messages = fields.getAll('reason_message');
  const lines = operationsNamed(fields).map((operation, at) => {
    const given = { status: statuses[at] ?? '', decisionId: ids[at], value: values[at] ?? '' };
    return lineOf({ ...operation, ...given, confirmed: (confirmed[at] ?? '').trim() }, administrator);
  });
  return {
    ...{ decision, language: spoken(), lines: await Promise.all(lines) },
    reasons: fields
      .getAll('reason_code')
      .map((code, at) => ({ code: code.trim(), message: (messages[at] ?? '').trim() }))
      .filter(({ code, message }) => code !== '' || message !== ''),
    chosenReasons: [...new Set(fields.getAll('used_reason'))].flatMap(reasonIn),
    date: fields.get('date') ?? '',
    note: (fields.get('note') ?? '').trim(),
  };
};

/** An amount as it was typed, for a field of the answer: one that can be read, in its language. */
export const retyped = (value: string, { language }: Pick<Draft, 'language'>): string => {
  const cents = language === spoken() ? undefined : centsTyped(value, language);
  return cents === undefined ? value : typedAmount(cents);
};

export const hasChanged = ({ found, status }: DraftLine): boolean =>
  found !== undefined && status !== '' && statusOf(found.loan) !== status;

/** Of all its lines, in cents. */
export const acquisitionSum = ({ lines }: Pick<Draft, 'lines'>): number =>
  lines.reduce((sum, { found }) => sum + (found?.loan.acquisitionValue ?? 0), 0);

/** Of what was typed, in cents; undefined as long as one amount cannot be read. */
export const sumOf = ({ lines, language }: Pick<Draft, 'lines' | 'language'>): number | undefined =>
  lines.reduce<number | undefined>((sum, { value }) => {
    const cents = centsTyped(value, language);
    return sum === undefined || cents === undefined ? undefined : sum + cents;
  }, 0);

interface Rules {
  readonly today: CalendarDate;
  /** In basis points. */
  readonly tolerance: number;
}

const problem = (field: Problem['field'], text: Problem['text'], of?: string): Problem => ({
  ...{ field, text },
  ...(of !== undefined && { of }),
});

const problemsOfLine = (line: DraftLine, tolerance: number): readonly Problem[] => {
  const { code, found, value, confirmed } = line;
  const of = keyOf(line);
  const cents = centsTyped(value);
  if (cents === undefined || cents === 0) {
    const low = cents === 0 || /^-|^\u2212/.test(value.trim());
    return [
      problem(
        'value',
        () => (low ? texts.notAboveZero(code) : texts.wrongAmount(code, amountMeant(value))),
        of,
      ),
    ];
  }
  if (confirmed !== '' && centsTyped(confirmed) !== cents)
    return [problem('confirmed', () => texts.otherValue(code), of)];
  if (confirmed !== '' || !found || !isFarOff(cents, found.loan.acquisitionValue, tolerance)) return [];
  const { acquisitionValue } = found.loan;
  const text = () => texts.farOff(code, amount(acquisitionValue), String(tolerance / 100));
  return [problem('confirmed', text, of)];
};

const problemsOfDate = (
  typed: string,
  lines: readonly DraftLine[],
  today: CalendarDate,
): readonly Problem[] => {
  const date = dayTyped(typed);
  if (date === undefined || date > addDays(today, 1)) return [problem('date', () => texts.wrongDate)];
  const early = lines.flatMap(({ code, found }) =>
    found && date < found.loan.dateIssued ? [`${code} (${written(found.loan.dateIssued)})`] : [],
  );
  return early.length === 0 ? [] : [problem('date', () => texts.beforeIssue(early.join(', ')))];
};

const problemsOfReasons = ({ reasons, chosenReasons }: Draft): readonly Problem[] => {
  if (reasons.length + chosenReasons.length === 0) return [problem('reason_code', () => texts.noReason, '1')];
  return reasons.flatMap(({ code, message }, at): readonly Problem[] => [
    ...(isReasonCode(code) ? [] : [problem('reason_code', () => texts.wrongCode, `${at + 1}`)]),
    ...(message !== '' ? [] : [problem('reason_message', () => texts.noMessage, `${at + 1}`)]),
  ]);
};

/** What has to be mended before it can be submitted; the administrator's module checks the rest, and refuses what has changed. */
export const problemsOf = (draft: Draft, { today, tolerance }: Rules): readonly Problem[] => {
  const { decision, lines, date } = draft;
  if (decision === 'reject') return problemsOfReasons(draft);
  if (decision !== 'disburse') return [];
  const open = lines.filter((line) => !hasChanged(line));
  return [...problemsOfDate(date, open, today), ...open.flatMap((line) => problemsOfLine(line, tolerance))];
};

/** Whether it is a decision that can be read: what has changed meanwhile is not asked to be mended. */
export const isReadable = ({ decision }: Draft, { value }: DraftLine): boolean =>
  decision !== 'disburse' || (centsTyped(value) ?? 0) > 0;

const amountTyped = (text: string): number => (centsTyped(text) ?? 0) / 100;

export const decisionsOf = ({
  decision,
  lines,
  reasons,
  chosenReasons,
  date,
  note,
}: Draft): readonly string[] =>
  lines.map(({ applicationId, code, decisionId, status, value, confirmed }) =>
    JSON.stringify({
      decision_id: decisionId,
      application_id: applicationId,
      originator_proposal_code: code,
      decision,
      ...(decision === 'reject' && { reasons: [...chosenReasons, ...reasons] }),
      ...(decision === 'disburse' && {
        disbursement_date: dayTyped(date),
        disbursed_value: amountTyped(value),
        ...(confirmed !== '' && { confirmed_value: amountTyped(confirmed) }),
      }),
      ...(note !== '' && { note }),
      ...(status !== '' && { expected_status: status }),
    }),
  );
