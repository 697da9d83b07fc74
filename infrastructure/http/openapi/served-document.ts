import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ServedContent } from '../docs/served-content.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { HEAPS, threadOptions } from '../../support/threads.ts';

export const servedAsJson = (document: Schema): ServedContent =>
  new ServedContent(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8');

const THREAD = new URL('./yaml-thread.ts', import.meta.url);

/** Printed in a thread that ends then: a request beside it would wait. */
export const servedAsYaml = async (document: Schema): Promise<ServedContent> => {
  const worker = new Worker(THREAD, { ...threadOptions('yaml', HEAPS.yaml), workerData: document });
  const [text] = (await once(worker, 'message')) as [string];
  return new ServedContent(Buffer.from(text), 'application/yaml; charset=utf-8');
};
