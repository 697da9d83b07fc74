import { expect, test } from '@jest/globals';
import type { CommandMetrics } from '../../../infrastructure/observability/metrics/work-metrics.ts';
import { observedCommands } from '../../../infrastructure/observability/observed-work.ts';

test.each([
  ['administrator', 'administrator'],
  ['administrator/Ana Souza', 'administrator'],
  ['scheduler', 'scheduler'],
  ['client-1', 'client'],
])('a command of %s counts as one of the %s', async (actor, role) => {
  const counted: string[] = [];
  const metrics = {
    handled: (by: string) => void counted.push(by),
    refused: () => undefined,
  } as unknown as CommandMetrics;
  const commands = observedCommands(metrics, { active: false } as never);
  await commands.run({ actor, stream: 's', correlationId: 'c' }, async () => ({ replayed: true }));
  expect(counted).toEqual([role]);
});
