import type { Worker } from 'node:worker_threads';
import { RunningService } from './running-service.ts';
import { onThreadStarted } from './started-threads.ts';

/** A service in this process whose threads a test can end one by one. */
let running: RunningService | undefined;
let workers: { readonly name: string; readonly worker: Worker }[] = [];
let forget: (() => void) | undefined;

export const startMortal = async (): Promise<RunningService> => {
  workers = [];
  // One that has ended has no name any more, and the one in its place may not have begun.
  forget = onThreadStarted((worker) => workers.push({ name: worker.threadName ?? '', worker }));
  running = await RunningService.start({}, { background: 'thread' });
  return running;
};

export const stopMortal = async (): Promise<void> => {
  forget?.();
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
