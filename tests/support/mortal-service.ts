import { Worker } from 'node:worker_threads';
import { RunningService } from './running-service.ts';

/** A service in this process whose threads a test can end one by one. */
let running: RunningService | undefined;
let workers: { readonly name: string; readonly worker: Worker }[] = [];

export const startMortal = async (): Promise<RunningService> => {
  workers = [];
  running = await RunningService.start(
    {},
    {
      background: 'thread',
      createWorker: (entry, options) => {
        const worker = new Worker(entry, options);
        workers.push({ name: options.name ?? '', worker });
        return worker;
      },
    },
  );
  return running;
};

export const stopMortal = async (): Promise<void> => {
  await running?.stop();
  running = undefined;
};

export const killThread = async (part: string): Promise<void> => {
  await workers.findLast(({ name }) => name.includes(part))!.worker.terminate();
};

export const readiness = async ({ baseUrl }: RunningService): Promise<{ ok: boolean; body: string }> => {
  const answer = await fetch(`${baseUrl}/health/ready`);
  return { ok: answer.ok, body: await answer.text() };
};

export const untilReady = async (service: RunningService): Promise<void> => {
  while (!(await readiness(service)).ok) await new Promise((resolve) => setTimeout(resolve, 20));
};
