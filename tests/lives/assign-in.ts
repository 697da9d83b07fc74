import { assignmentForm } from '../support/api-client.ts';
import type { TestApplication, World } from './world.ts';

/** Stores the operation and waits until all reads hold it, with every write that was answered before. */
export const assignIn = async (
  world: World,
  application: TestApplication,
  loan: object,
  file?: Uint8Array,
): Promise<void> => {
  const body = assignmentForm(loan, file);
  const answer = await world.call(application, { method: 'POST', path: '/loan', body });
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  await world.call(application, { method: 'GET', path: `/loan/${answer.body.originator_proposal_code}` });
};
