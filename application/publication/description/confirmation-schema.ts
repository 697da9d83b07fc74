import { object, refused } from '../../schemas/schema.ts';
import type { Schema } from '../../schemas/schema.ts';
import { decisionSchemas } from './decision-schema.ts';

/** What may be done about a decision that awaits a second person. */
export const SECOND_DECISIONS = ['confirm', 'withdraw'] as const;
export type SecondDecisionName = (typeof SECOND_DECISIONS)[number];

export const confirmationExamples = [
  {
    summary: 'A second person agrees',
    payload: {
      decision_id: 'D-2026-0006',
      decision: 'confirm',
      first_decision_id: '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
      operator: 'bruno.lima',
    },
  },
  {
    summary: 'It is taken back',
    payload: {
      decision_id: 'D-2026-0007',
      decision: 'withdraw',
      first_decision_id: '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
      operator: 'ana.souza',
    },
  },
] as const;

const { properties } = decisionSchemas.AdministratorDecision as {
  readonly properties?: Readonly<Record<'decision_id' | 'operator', Schema>>;
};

const administratorConfirmation: Schema = {
  ...object(
    {
      decision_id: properties!.decision_id,
      decision: {
        type: 'string',
        enum: [...SECOND_DECISIONS],
        description: '`confirm` lets it take effect, `withdraw` takes it back.',
        examples: ['confirm'],
        ...refused('invalid_value', `must be one of ${SECOND_DECISIONS.join(', ')}`),
      },
      first_decision_id: {
        ...properties!.decision_id,
        description: 'The `decision_id` of the decision that awaits a second person.',
      },
      operator: properties!.operator,
    },
    ['operator'],
  ),
  description:
    'What a second person says of a decision that awaits one, because its fund asks for two. Unknown fields are ignored.',
};

export const confirmationSchemas = {
  AdministratorConfirmation: administratorConfirmation,
} as const satisfies Readonly<Record<string, Schema>>;
