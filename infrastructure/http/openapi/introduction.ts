import type { Schema } from '../../../application/schemas/schema.ts';
import { ERRORS } from '../errors/error-table.ts';
import { ALWAYS, headerComponents, RATE_HEADERS } from './components/headers.ts';

const errorTable = (): string =>
  [
    '| HTTP | `error_code` | Meaning | Send again? |\n|---|---|---|---|',
    ...Object.entries(ERRORS).map(
      ([code, { status, meaning, retryable }]) =>
        `| ${status} | \`${code}\` | ${meaning} | ${retryable ? 'yes' : ''} |`,
    ),
  ].join('\n');

const headerTable = (): string =>
  [
    '| Header | |\n|---|---|',
    ...Object.entries({ ...ALWAYS, ...RATE_HEADERS }).map(([name, reference]) => {
      const component =
        headerComponents[
          String((reference as Schema)['$ref'])
            .split('/')
            .at(-1) ?? ''
        ];
      return `| \`${name}\` | ${String(component?.['description'])} |`;
    }),
  ].join('\n');

/** What stands before the operations. */
export const INTRODUCTION =
  'Assign credit operations to a receivables fund, report what borrowers pay, and follow each operation by signed webhooks.\n\n' +
  'Amounts are JSON numbers in Brazilian reais. Dates are days of the calendar, instants are UTC. ' +
  'Requests with an idempotency key can be repeated without a second effect; a repeated one carries `Idempotent-Replayed`.\n\n' +
  'Checks happen in this order: path and method, size and format, token, rate limit, contents, idempotency key, ' +
  'operation, installment.\n\n' +
  'What is not a valid HTTP request, takes too long to arrive or has too large headers is answered 400, 408 or 431 ' +
  'with the body of every other refusal, and the connection is closed.\n\n' +
  `## Errors\n\nEvery refusal has the same body. Decide on \`error_code\`.\n\n${errorTable()}\n\n` +
  `## Headers of every response\n\nThe last three are missing where no rate limit counts.\n\n${headerTable()}`;
