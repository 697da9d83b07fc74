import { refused } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import type { SandboxOutcome } from '../../../domain/loan/events.ts';
import type { ReadHeaders } from '../requests/parameters.ts';

const outcome = (outcomes: readonly string[], description: string): Schema => ({
  name: 'X-Sandbox-Outcome',
  in: 'header',
  required: false,
  description,
  schema: {
    type: 'string',
    enum: [...outcomes],
    ...refused('invalid_value', `must be ${outcomes.join(' or ')}; leave it out for an approval`),
  },
});

const HOLD =
  '`hold` leaves the operation to decisions from the command line (`receivables administrator approve` and the like)';

/** Of requests that bring an operation in, under their names in components/parameters. */
export const sandboxParameters: Readonly<Record<string, Schema>> = {
  SandboxOutcome: outcome(
    ['reject', 'hold'],
    `What the sandbox's administrator does instead of approving: \`reject\` rejects, ${HOLD}. No part of what makes a request the same.`,
  ),
  SandboxHold: outcome(
    ['hold'],
    `What the sandbox's administrator does instead of approving the new operation: ${HOLD}. No part of what makes a request the same.`,
  ),
};

/** What the request asks the administrator of a sandbox to do. */
export const askedOutcome = (headers: ReadHeaders): { readonly sandboxOutcome?: SandboxOutcome } => {
  const asked = headers['X-Sandbox-Outcome'];
  return asked === undefined ? {} : { sandboxOutcome: asked as SandboxOutcome };
};
