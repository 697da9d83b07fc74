import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { lostToOthers, readLoad } from './machine-load.ts';
import type { NeighbourOrder, NeighbourSettings, Observation } from './neighbour.ts';

const { url, token, servicePid, everyMs } = workerData as NeighbourSettings;
const GIVEN_UP_AFTER_MS = 30_000;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The status, or the code of the failure. */
const read = (): Promise<number | string> =>
  new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => resolve(error.code ?? error.message);
    const signal = AbortSignal.timeout(GIVEN_UP_AFTER_MS);
    request(url, { agent, signal, headers: { authorization: `Bearer ${token}` } }, (res) => {
      res.on('error', failed).on('end', () => resolve(res.statusCode ?? 0));
      res.resume();
    })
      .on('error', failed)
      .end();
  });

const empty = (): Observation => ({ answers: 0, slowestMs: 0, excusedMs: 0, failures: [] });
let seen = empty();
let reading: Promise<void> | undefined;

const observe = async (): Promise<void> => {
  const before = readLoad(servicePid);
  const begun = performance.now();
  const outcome = await read();
  const took = performance.now() - begun;
  const excused = Math.min(took, lostToOthers(before, readLoad(servicePid), servicePid));
  const slower = took - excused > seen.slowestMs - seen.excusedMs;
  seen = {
    answers: seen.answers + 1,
    ...(slower
      ? { slowestMs: took, excusedMs: excused }
      : { slowestMs: seen.slowestMs, excusedMs: seen.excusedMs }),
    failures: outcome === 200 ? seen.failures : [...seen.failures, outcome],
  };
};

/** One read at a time: one that takes longer than the pace is one slow answer, not many. */
const readOnce = (): Promise<void> => (reading ??= observe().finally(() => (reading = undefined)));
const timer = setInterval(() => void readOnce(), everyMs);

const obey = async (order: NeighbourOrder): Promise<void> => {
  await reading;
  if (order === 'tell') {
    // On a busy machine no read may have begun since the last of what it has to tell.
    await readOnce();
    parentPort!.postMessage(seen);
  }
  if (order === 'leave') {
    clearInterval(timer);
    agent.destroy();
    parentPort!.close();
  }
  seen = empty();
};

parentPort!.on('message', (order: NeighbourOrder) => void obey(order));
