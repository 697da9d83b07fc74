import { LOAN_STATUSES } from '../../domain/loan/statuses.ts';
import { PAYMENT_METHODS } from '../../domain/installment/installment.ts';
import { isCalendarDate } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate as CalendarDay } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { InstallmentCode as CodeOfInstallment, LoanCode } from '../../domain/shared/identifiers.ts';
import { DECIMALS, component, componentOf, oneOf, refused, schemasOf, text } from './schema.ts';
import type { SchemaOf } from './schema.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** RFC 3339, section 5.6, on days that exist, but for leap seconds, which the clock of no computer here knows. */
const isDateTime = (text: string): boolean =>
  isCalendarDate(text.slice(0, 10)) && /[Tt]/.test(text.charAt(10)) && TIME.test(text.slice(11));

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isCalendarDate,
  'date-time': isDateTime,
  uuid: (text) => UUID.test(text),
};

const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** The instant in UTC with the milliseconds that events have. @throws DomainError `invalid_query_parameter` */
export const instantOf = (field: string, text: string): string => {
  const written = text.replace(' ', 'T');
  const ms = isDateTime(written) ? Date.parse(written.toUpperCase()) : NaN;
  if (Number.isNaN(ms)) {
    const message = 'give an instant such as 2026-01-15T12:00:00Z';
    const details = [{ field, code: 'invalid_value', message }];
    throw new DomainError('invalid_query_parameter', `${field}: ${message}`, details);
  }
  return new Date(Math.min(LATEST, ms)).toISOString();
};

const VISIBLE_ASCII = '[!-~]';
/** Visible ASCII without / \ ? # % : the code travels as one segment of a path, so it is not one that clients resolve away. */
const PROPOSAL_CODE = '^(?!\\.\\.?$)[!"$&-.0->@-\\[\\]-~]{1,100}$';

const proposalCode = new RegExp(PROPOSAL_CODE, 'u');
export const isProposalCode = (text: string): boolean => proposalCode.test(text);

const textWithout =
  (controls: string, rule: string, mayBeBlank = false) =>
  (description: string, maxLength: number, example: string): SchemaOf<string> =>
    text({
      maxLength,
      // The lookahead keeps the expression linear: hostile text must not cost more than a glance.
      pattern: `^${mayBeBlank ? '' : '(?=\\s*\\S)'}[^${controls}]*$`,
      description,
      examples: [example],
      ...refused(
        'invalid_format',
        mayBeBlank
          ? `must be text of at most ${maxLength} characters without ${rule}`
          : `must be text of 1 to ${maxLength} characters, not blank and without ${rule}`,
      ),
    });

const LINE = ['\\u0000-\\u001f\\u007f', 'control characters'] as const;

/** One line that a person reads: not blank, no control characters. */
export const freeText = textWithout(...LINE);
/** The same of a field that may be left out, and so may be empty. */
export const optionalText = textWithout(...LINE, true);

export const longText = textWithout(
  '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f',
  'control characters other than tabs and line breaks',
  true,
);

const token = (description: string, example: string): SchemaOf<string> =>
  text({
    pattern: '^[A-Za-z0-9_-]{1,50}$',
    description,
    examples: [example],
    ...refused('invalid_format', 'must be 1 to 50 letters, digits, underscores or hyphens'),
  });

const visibleText = (description: string, maxLength: number, example: string): SchemaOf<string> =>
  text({
    pattern: `^${VISIBLE_ASCII}{1,${maxLength}}$`,
    description,
    examples: [example],
    ...refused('invalid_format', `must be 1 to ${maxLength} visible ASCII characters, without spaces`),
  });

export const Amount = component('Amount', {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 999_999_999.99,
  [DECIMALS]: 2,
  description:
    'Money in Brazilian reais as a JSON number with at most two decimals; more are refused. Answers show both.',
  examples: [950.0],
  ...refused(
    'invalid_amount',
    'must be a JSON number (no quotes) above 0, at most 999999999.99, with no more than two decimals',
  ),
});

export const Balance = component('Balance', {
  type: 'number',
  minimum: 0,
  description: 'Money in Brazilian reais; zero is possible.',
  examples: [0.0],
});

export const CalendarDate = componentOf<CalendarDay>('CalendarDate', {
  type: 'string',
  format: 'date',
  description: 'A day of the calendar. It has no time and no time zone.',
  examples: ['2026-01-15'],
  ...refused(
    'invalid_date',
    'must be a date of the calendar, from the year 1000 on, written YYYY-MM-DD, such as 2026-01-15',
  ),
});

export const Timestamp = component('Timestamp', {
  type: 'string',
  format: 'date-time',
  description: 'An instant in UTC with milliseconds.',
  examples: ['2026-01-15T12:00:00.000Z'],
});

export const FundId = component('FundId', {
  type: 'string',
  format: 'uuid',
  description: 'A fund that is linked to the application.',
  examples: ['6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11'],
  ...refused('invalid_format', 'must be a UUID, such as 6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11'),
});

export const ProposalCode = componentOf<LoanCode>('ProposalCode', {
  type: 'string',
  pattern: PROPOSAL_CODE,
  description: 'Your own name for the operation. It is unique in your application and compared byte by byte.',
  examples: ['OP-2026-000123'],
  ...refused(
    'invalid_format',
    'must be 1 to 100 visible ASCII characters, none of them / \\ ? # or %, and not . or ..',
  ),
});

export const InstallmentCode = componentOf<CodeOfInstallment>(
  'InstallmentCode',
  visibleText('Name of an installment, unique in its operation.', 50, '001'),
);

export const IdempotencyKey = component(
  'IdempotencyKey',
  visibleText(
    'Your key for this request. Repeat it with the same payload to get the same outcome without a second effect. It counts in your application and at this endpoint alone.',
    255,
    'OP-2026-000123-001',
  ),
);

export const ProductType = component('ProductType', token('Kind of credit product.', 'financing'));

export const DocumentKind = component(
  'DocumentKind',
  token('Kind of document; `ccb` is the credit note that backs the operation.', 'ccb'),
);

export const PaymentMethod = component(
  'PaymentMethod',
  oneOf(PAYMENT_METHODS, {
    description: 'How the borrower paid.',
    examples: ['pix'],
    ...refused('invalid_value', `must be one of ${PAYMENT_METHODS.join(', ')}`),
  }),
);

export const LoanStatus = component(
  'LoanStatus',
  oneOf(LOAN_STATUSES, {
    description: 'Where the operation stands in its life.',
    examples: ['active'],
  }),
);

export const valueSchemas = schemasOf(
  Amount,
  Balance,
  CalendarDate,
  Timestamp,
  FundId,
  ProposalCode,
  InstallmentCode,
  IdempotencyKey,
  ProductType,
  DocumentKind,
  PaymentMethod,
  LoanStatus,
);

const UNITS_OF_TIME = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const DURATION = '^[0-9]{1,12}(ms|s|m|h|d)$';
export const DURATION_RULE = 'must be a whole number and a unit, such as 300ms, 30s, 2m, 1h or 30d';

const DURATION_PATTERN = new RegExp(DURATION);

/** Milliseconds; undefined for a text that is no duration. A day has 24 hours. */
export const durationOf = (text: string): number | undefined => {
  if (!DURATION_PATTERN.test(text)) return undefined;
  const [digits = '', unit = ''] = text.split(/(?<=\d)(?=\D)/);
  return Number(digits) * UNITS_OF_TIME[unit as keyof typeof UNITS_OF_TIME];
};
