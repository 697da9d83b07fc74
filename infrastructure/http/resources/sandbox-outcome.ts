import { durationOf } from '../../../application/schemas/values.ts';
import { oneOf, refused, text } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { SandboxWishes } from '../../../domain/loan/events.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import type { ReadHeaders } from '../requests/parameters.ts';

const header = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

const outcome = (outcomes: readonly string[], description: string): Schema => {
  const rule = refused('invalid_value', `must be ${outcomes.join(' or ')}; leave it out for an approval`);
  return header('X-Sandbox-Outcome', description, oneOf(outcomes, rule));
};

const DISBURSE = 'X-Sandbox-Disburse';

const HOLD =
  '`hold` leaves the operation to decisions from the command line (`receivables administrator approve` and the like)';

/** As amounts in bodies, but as a text: at most two decimals, above zero. */
const AMOUNT = '^(?!0(\\.0{1,2})?$)(0|[1-9]\\d{0,8})(\\.\\d{1,2})?$';
const FAILURES = ['429', '503', '503-after', 'cut', 'cut-after'];
const LIFETIME = '^([1-9]\\d{0,2}|[12]\\d{3}|3[0-5]\\d\\d|3600)s$|^([1-9]|[1-5]\\d|60)m$|^1h$';

export const sandboxParameters: Readonly<Record<string, Schema>> = {
  SandboxOutcome: outcome(
    ['reject', 'hold'],
    `What the sandbox's administrator does instead of approving: \`reject\` rejects, ${HOLD}. No part of what makes a request the same.`,
  ),
  SandboxHold: outcome(
    ['hold'],
    `What the sandbox's administrator does instead of approving the new operation: ${HOLD}. No part of what makes a request the same.`,
  ),
  SandboxDisburse: header(
    DISBURSE,
    "What the sandbox's administrator disburses instead of the acquisition value, however far it is from that: `9900.00`. " +
      'No part of what makes a request the same.',
    text({
      pattern: AMOUNT,
      ...refused(
        'invalid_amount',
        'must be an amount above 0, at most 999999999.99, with a point and no more than two decimals, such as 9900.00',
      ),
    }),
  ),
  SandboxStrict: header(
    'X-Sandbox-Strict',
    'Checks this request as production would: check digits of CPF and CNPJ, whether a PDF can be read, and no issue or payment ' +
      'after tomorrow by the clock of the sandbox. No part of what makes a request the same.',
    oneOf(['true'], refused('invalid_value', "must be true; leave it out for the sandbox's own checks")),
  ),
  SandboxFail: header(
    'X-Sandbox-Fail',
    'How this request fails, once for its key: `429` and `503` are answered, `cut` closes the connection without an answer. ' +
      'With `-after` the request is carried out all the same. Sent again it passes. No part of what makes a request the same.',
    oneOf(FAILURES, refused('invalid_value', `must be one of ${FAILURES.join(', ')}`)),
  ),
  SandboxTokenLifetime: header(
    'X-Sandbox-Token-Lifetime',
    'Makes a token that expires so soon, to the second, to see what a client does then: `2s`. From `1s` to `1h`.',
    text({
      pattern: LIFETIME,
      ...refused('invalid_value', 'must be whole seconds, minutes or an hour from 1s to 1h, such as 2s'),
    }),
  ),
};

/** How long the token is to live, in seconds. */
export const askedLifetime = (headers: ReadHeaders): number | undefined => {
  const asked = headers['X-Sandbox-Token-Lifetime'];
  return asked === undefined ? undefined : durationOf(asked)! / 1_000;
};

/**
 * What the request asks the administrator of a sandbox to do.
 * @throws DomainError `validation_error`
 */
export const askedWishes = async (
  headers: ReadHeaders,
  administrator: Pick<Administrator, 'disbursesAsAsked'>,
): Promise<SandboxWishes> => {
  const sandboxOutcome = headers['X-Sandbox-Outcome'] as SandboxWishes['sandboxOutcome'];
  const value = headers[DISBURSE];
  if (value !== undefined && !(await administrator.disbursesAsAsked())) {
    const message = `${DISBURSE} counts once no earlier release runs beside this one, and \`upgrade finish\` was run`;
    throw new DomainError('validation_error', message, [{ field: DISBURSE, code: 'too_early', message }]);
  }
  return {
    ...(sandboxOutcome !== undefined && { sandboxOutcome }),
    ...(value !== undefined && { sandboxDisbursement: centsFromAmount(Number(value)) }),
  };
};
