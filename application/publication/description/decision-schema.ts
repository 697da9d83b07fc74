import { object, ref, refused } from '../../schemas/schema.ts';
import type { Schema } from '../../schemas/schema.ts';
import { freeText } from '../../schemas/values.ts';
import { LOAN_STATUSES } from '../../../domain/loan/statuses.ts';
import { UNSEEN_MARKS } from '../../../domain/shared/as-read.ts';

export const DECISIONS = ['approve', 'reject', 'sign_term', 'disburse', 'process_repurchase'] as const;
export type DecisionName = (typeof DECISIONS)[number];

/** What may be done about a decision that awaits a second person. */
export const SECOND_DECISIONS = ['confirm', 'withdraw'] as const;
export type SecondDecisionName = (typeof SECOND_DECISIONS)[number];

const LONGEST_TEXT = 500;
const LONGEST_OPERATOR = 80;
/** No control characters, and no marks that turn the direction of what is read beside it. */
const OPERATOR = `^(?=\\s*\\S)[^${UNSEEN_MARKS}]*$`;
export const OPERATOR_RULE = `must be a name of 1 to ${LONGEST_OPERATOR} characters, without control characters or marks of direction`;
const operatorPattern = new RegExp(OPERATOR, 'u');
export const isOperator = (text: string): boolean =>
  [...text].length <= LONGEST_OPERATOR && text.isWellFormed() && operatorPattern.test(text);
export const MOST_REASONS = 20;

const name = (pattern: string, wanted: string, description: string, example: string): Schema => ({
  type: 'string',
  pattern,
  description,
  examples: [example],
  ...refused('invalid_format', `must be ${wanted}`),
});

const REASON_CODE = '^[A-Za-z0-9_.-]{1,100}$';
const reasonCodePattern = new RegExp(REASON_CODE);
export const isReasonCode = (text: string): boolean => reasonCodePattern.test(text);

const reason: Schema = {
  ...object({
    code: name(
      REASON_CODE,
      '1 to 100 letters, digits, underscores, dots or hyphens',
      'Stable name of the reason.',
      'concentration_limit',
    ),
    message: freeText('For people; the integrator reads it.', LONGEST_TEXT, 'Too much of one borrower'),
  }),
};

/** What a decision states beyond its name; any other decision has to leave it out. Optional where `OPTIONAL` names it. */
const DETAILS = {
  reject: {
    reasons: {
      type: 'array',
      minItems: 1,
      maxItems: MOST_REASONS,
      items: reason,
      description: 'Why the operation is turned down. Only of `reject`, and required there.',
      ...refused('invalid_value', `must be a list of 1 to ${MOST_REASONS} reasons`),
    },
  },
  disburse: {
    disbursement_date: {
      ...ref('CalendarDate'),
      description: 'The day on which the fund paid. Only of `disburse`, and required there.',
    },
    disbursed_value: {
      ...ref('Amount'),
      description:
        'What the fund paid. Only of `disburse`, and required there. Far from the acquisition value (by default more than 10 % of it) it is taken only together with an equal `confirmed_value`.',
    },
    confirmed_value: {
      ...ref('Amount'),
      description:
        'Only of `disburse`: the disbursed value a second time, to the cent. Needed where it is far from the acquisition value.',
    },
  },
} satisfies Partial<Record<DecisionName, Readonly<Record<string, Schema>>>>;

const detailsOf = (decision: DecisionName): readonly string[] =>
  decision in DETAILS ? Object.keys(DETAILS[decision as keyof typeof DETAILS]) : [];

const OPTIONAL: ReadonlySet<string> = new Set(['confirmed_value']);

/** `if` this decision, its details are required; otherwise they are a contradiction. */
const condition = (decision: DecisionName): Schema => ({
  if: { properties: { decision: { const: decision } }, required: ['decision'] },
  then: {
    properties: Object.fromEntries(detailsOf(decision).map((field) => [field, {}])),
    required: detailsOf(decision).filter((field) => !OPTIONAL.has(field)),
  },
  else: {
    properties: Object.fromEntries(
      detailsOf(decision).map((field) => [
        field,
        { not: {}, ...refused('invalid_value', `belongs to the decision ${decision} only`) },
      ]),
    ),
  },
});

const DECISION_ID = name(
  '^[!-~]{1,100}$',
  '1 to 100 visible ASCII characters, without spaces',
  'Your name for this decision. Sent again with the same contents it has no second effect.',
  '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
);

const OPERATOR_NAME: Schema = {
  type: 'string',
  maxLength: LONGEST_OPERATOR,
  pattern: OPERATOR,
  description: 'Who decided, by your own word; kept with the event for the audit, never published.',
  examples: ['ana.souza'],
  ...refused('invalid_format', OPERATOR_RULE),
};

const administratorDecision: Schema = {
  ...object(
    {
      decision_id: DECISION_ID,
      application_id: name(
        '^[A-Za-z0-9_-]{1,64}$',
        '1 to 64 letters, digits, underscores or hyphens',
        'The application that the operation belongs to.',
        'acme',
      ),
      originator_proposal_code: ref('ProposalCode'),
      decision: {
        type: 'string',
        enum: [...DECISIONS],
        description: 'What is decided.',
        examples: ['approve'],
        ...refused('invalid_value', `must be one of ${DECISIONS.join(', ')}`),
      },
      ...DETAILS.reject,
      ...DETAILS.disburse,
      decided_at: {
        type: 'string',
        format: 'date-time',
        description: 'When it was decided; the time of its arrival when left out.',
        examples: ['2026-01-15T12:00:00Z'],
        ...refused('invalid_date', 'must be an instant with its offset, such as 2026-01-15T12:00:00Z'),
      },
      note: freeText(
        'For the audit; never published. No personal data, please.',
        LONGEST_TEXT,
        'Committee of 15 January',
      ),
      expected_status: {
        type: 'string',
        enum: LOAN_STATUSES,
        description:
          'The state of the operation that the decision was made on. When it is in another one by then, the decision is refused, with who did what meanwhile.',
        examples: ['term_signed'],
        ...refused('invalid_value', `must be one of ${LOAN_STATUSES.join(', ')}`),
      },
      operator: OPERATOR_NAME,
    },
    [
      'reasons',
      'disbursement_date',
      'disbursed_value',
      'confirmed_value',
      'decided_at',
      'note',
      'expected_status',
      'operator',
    ],
  ),
  allOf: (Object.keys(DETAILS) as DecisionName[]).map(condition),
  description: 'A decision of the administrator on one operation. Unknown fields are ignored.',
};

const refusedDecision: Schema = {
  ...object(
    {
      decision_id: { type: 'string', description: 'Of the decision, where one could be read.' },
      origin: { type: 'string', description: 'Where it stood: topic, partition and offset, or a line.' },
      text: { type: 'string', description: 'The decision exactly as it came, to be mended and sent again.' },
      reason: object({
        code: { type: 'string', description: 'Stable name of the rule that refused it.' },
        message: { type: 'string', description: 'For people.' },
        details: {
          type: 'array',
          description: 'Broken fields of a malformed decision; empty for any other.',
          items: object({
            field: { type: 'string', description: 'Path of the field, such as `reasons[0].code`.' },
            code: { type: 'string', description: 'Stable name of the rule.' },
            message: { type: 'string', description: 'What the value has to be.' },
          }),
        },
      }),
      refused_at: ref('Timestamp'),
    },
    ['decision_id'],
  ),
  description: 'A decision that was refused for good, with the reason.',
};

const administratorConfirmation: Schema = {
  ...object(
    {
      decision_id: DECISION_ID,
      decision: {
        type: 'string',
        enum: [...SECOND_DECISIONS],
        description: '`confirm` lets it take effect, `withdraw` takes it back.',
        examples: ['confirm'],
        ...refused('invalid_value', `must be one of ${SECOND_DECISIONS.join(', ')}`),
      },
      first_decision_id: {
        ...DECISION_ID,
        description: 'The `decision_id` of the decision that awaits a second person.',
      },
      operator: OPERATOR_NAME,
    },
    ['operator'],
  ),
  description:
    'What a second person says of a decision that awaits one, because its fund asks for two. Unknown fields are ignored.',
};

export const decisionSchemas = {
  AdministratorDecision: administratorDecision,
  RefusedDecision: refusedDecision,
  AdministratorConfirmation: administratorConfirmation,
} as const satisfies Readonly<Record<string, Schema>>;
