import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ServedContent } from '../docs/served-content.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { HEAPS, threadOptions } from '../../support/threads.ts';

export const servedAsJson = (document: Schema): ServedContent =>
  new ServedContent(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8');

const THREAD = new URL('./yaml-thread.ts', import.meta.url);

const printed = async (document: Schema): Promise<ServedContent> => {
  const worker = new Worker(THREAD, { ...threadOptions('yaml', HEAPS.yaml), workerData: document });
  const [text] = (await once(worker, 'message')) as [string];
  return new ServedContent(Buffer.from(text), 'application/yaml; charset=utf-8');
};

/** Printed on request, in a thread that ends then: it takes longer than a start should, or a request beside it wait. */
export const servedAsYaml = (document: Schema): Pick<ServedContent, 'replyTo'> => {
  let content: Promise<ServedContent> | undefined;
  return {
    replyTo: async (req, headers) => {
      content ??= printed(document);
      try {
        return (await content).replyTo(req, headers);
      } catch (error) {
        content = undefined;
        throw error;
      }
    },
  };
};
