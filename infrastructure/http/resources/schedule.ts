import { component, listOf, object, ref, refused } from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { Amount, CalendarDate, InstallmentCode } from '../../../application/schemas/values.ts';
import type { ScheduledInstallment } from '../../../domain/installment/installment.ts';
import { isCalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { asList, asText, repetitions, textIn } from '../requests/request-rules.ts';
import { quoted } from '../../../application/schemas/parse-json.ts';
import type { Draft } from '../requests/request-rules.ts';

const LONGEST_SCHEDULE = 480;

const NewInstallment = component('NewInstallment', {
  ...object({ code: ref(InstallmentCode), due_date: ref(CalendarDate), face_value: ref(Amount) }),
  description: 'One scheduled payment. It falls due after the issue date; a due date in the past is fine.',
});
type NewInstallment = TypeOf<typeof NewInstallment>;

export const NewInstallments = component('NewInstallments', {
  type: 'array',
  minItems: 1,
  maxItems: LONGEST_SCHEDULE,
  ...listOf(ref(NewInstallment)),
  description: 'The whole schedule; no code twice.',
  ...refused('invalid_count', 'must be a list of 1 to 480 installments'),
});

export const NumberOfInstallments = component('NumberOfInstallments', {
  type: 'integer',
  minimum: 1,
  maximum: LONGEST_SCHEDULE,
  description: 'How many installments the list holds.',
  examples: [12],
  ...refused('invalid_count', 'must be a whole number from 1 to 480'),
});

export const checkSchedule = (draft: Draft, dateIssued: unknown): readonly FieldViolation[] => {
  const installments = asList(draft['installments']);
  return [
    ...checkCount(draft['number_of_installments'], installments.length),
    ...repetitions(installments.map((entry) => textIn(entry, 'code'))).map(({ index, text }) => ({
      field: `installments[${index}].code`,
      code: 'duplicate_installment_code',
      message: `must differ from the other codes of the operation; ${quoted(text)} appears before`,
    })),
    ...checkDueDates(installments, dateIssued),
  ];
};

const isPossibleLength = (length: unknown): boolean =>
  Number.isInteger(length) && Number(length) >= 1 && Number(length) <= LONGEST_SCHEDULE;

/** A number or a list that is impossible by itself has a violation of its own. */
const checkCount = (declared: unknown, actual: number): readonly FieldViolation[] => {
  if (!isPossibleLength(declared) || !isPossibleLength(actual) || declared === actual) return [];
  const message = `must equal the length of installments, which is ${actual}`;
  return [{ field: 'number_of_installments', code: 'installment_count_mismatch', message }];
};

const checkDueDates = (installments: readonly unknown[], dateIssued: unknown): readonly FieldViolation[] => {
  const issued = asText(dateIssued);
  if (issued === undefined || !isCalendarDate(issued)) return [];
  return installments.flatMap((entry, index) => {
    const due = textIn(entry, 'due_date');
    if (due === undefined || due > issued || !isCalendarDate(due)) return [];
    const message = `must be after date_issued, ${issued}`;
    return [{ field: `installments[${index}].due_date`, code: 'due_date_not_after_issue', message }];
  });
};

export const scheduleOf = (installments: readonly NewInstallment[]): readonly ScheduledInstallment[] =>
  installments.map(({ code, due_date: dueDate, face_value: faceValue }) => ({
    code,
    dueDate,
    faceValue: centsFromAmount(faceValue),
  }));
