import type { MessagePort } from 'node:worker_threads';
import { OutcomeUnknownError } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { plainFields } from '../../observability/logging.ts';
import { MasterKey } from '../../security/master-key.ts';
import type { AppendReply, Row } from '../../sqlite/event-log/event-log-writer.ts';
import type { AppendWriter } from '../../sqlite/event-log/event-log-threads.ts';
import { opening } from '../../support/opening.ts';
import { openFoundations } from '../foundations.ts';
import { retryUntilAvailable } from '../start-retry.ts';
import { startWork } from '../work.ts';
import type { Work } from '../work.ts';
import type { BackgroundData, FromBackground, Question, ToBackground } from './background-worker.ts';

/** The writer of the log as the background thread sees it: over messages to the main thread, which owns it. */
class RemoteAppends implements AppendWriter {
  readonly #post: (message: FromBackground) => void;
  readonly #pending = new Map<number, PromiseWithResolvers<AppendReply>>();
  #asked = 0;

  constructor(post: (message: FromBackground) => void) {
    this.#post = post;
  }

  call(append: Row, characters: number): Promise<AppendReply> {
    const pending = Promise.withResolvers<AppendReply>();
    const id = ++this.#asked;
    this.#pending.set(id, pending);
    this.#post({ kind: 'append', id, append, characters });
    return pending.promise;
  }

  settle(id: number, reply: AppendReply): void {
    this.#pending.get(id)?.resolve(reply);
    this.#pending.delete(id);
  }

  async close(): Promise<void> {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const one of pending) one.reject(new OutcomeUnknownError('the thread was closed before the answer'));
  }
}

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;

type Post = (message: FromBackground) => void;

/** Lines of this thread are written by the main thread, in one stream with its own; levels that it leaves out do not travel. */
const forwarding = (post: Post, level: BackgroundData['configuration']['logLevel']): Logger => {
  const wanted = LEVELS.indexOf(level);
  const at = (index: number) =>
    index > wanted
      ? () => undefined
      : (fields: object, message: string) =>
          post({ kind: 'log', level: LEVELS[index]!, fields: plainFields(fields), message });
  return { error: at(0), warn: at(1), info: at(2), debug: at(3) };
};

const open = async (
  data: BackgroundData,
  post: Post,
  signal: AbortSignal,
  appends: RemoteAppends,
): Promise<Work> => {
  const { masterKey, previousMasterKey } = data;
  const configuration = {
    ...data.configuration,
    masterKey: masterKey && MasterKey.of(masterKey),
    previousMasterKey: previousMasterKey && MasterKey.of(previousMasterKey),
  };
  const logger = forwarding(post, configuration.logLevel);
  const retry = retryUntilAvailable({ logger, signal, onWaiting: () => undefined });
  const options = { retry, part: 'background', writer: appends } as const;
  return opening(async (kept) => startWork(kept(await openFoundations(configuration, logger, options))));
};

const answerTo = async (question: Question, work: Work) =>
  question === 'checks' ? work.checks() : ((await work.scrape?.values()) ?? []);

export const runBackground = async (data: BackgroundData, port: MessagePort): Promise<void> => {
  const post: Post = (message) => port.postMessage(message);
  const stopping = new AbortController();
  const appends = new RemoteAppends(post);
  let work: Work | undefined;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping.abort();
    await work?.stop();
    await work?.parts.close();
    port.close();
  };
  port.on('message', (message: ToBackground) => {
    switch (message.kind) {
      case 'appended':
        return work?.parts.embeddedLog?.advanceTo(message.position);
      case 'append result':
        return appends.settle(message.id, message.reply);
      case 'queued':
        return work?.parts.sending.worker.wake(message.webhookIds);
      case 'ask':
        if (work)
          void answerTo(message.question, work).then((answer) =>
            post({ kind: 'answer', id: message.id, answer }),
          );
        return;
      case 'stop':
        stopped ??= stop();
        return;
    }
  });
  try {
    work = await open(data, post, stopping.signal, appends);
  } catch (error) {
    if (stopping.signal.aborted) return;
    throw error;
  }
  if (stopping.signal.aborted) await stop();
  else post({ kind: 'ready' });
};
