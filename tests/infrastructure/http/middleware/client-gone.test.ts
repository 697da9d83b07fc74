import { request } from 'node:http';
import { afterAll, expect, test } from '@jest/globals';
import { ClientGoneError } from '../../../../infrastructure/http/errors/http-problem.ts';
import { tokenFor } from '../../../support/http-fakes.ts';
import { loanForm, validLoanData } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());

test('work on files learns that its client is gone, and ends without an answer or a line in the log', async () => {
  const begun = Promise.withResolvers<void>();
  const left = Promise.withResolvers<unknown>();
  world.behaviour.loans.assign = ({ signal }) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        left.resolve(signal.reason);
        reject(signal.reason as Error);
      });
      begun.resolve();
    });
  const form = new Response(loanForm(validLoanData()));
  const upload = request(`${world.baseUrl}/loan`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokenFor('client-a')}`,
      'content-type': form.headers.get('content-type')!,
    },
  });
  upload.on('error', () => undefined).end(Buffer.from(await form.arrayBuffer()));
  await begun.promise;
  upload.destroy();
  expect(await left.promise).toBeInstanceOf(ClientGoneError);
  expect(world.logger.lines).toEqual([]);
});
