import type { KeyObject } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../application/ports/logger.ts';
import type { MetricValues } from '../../observability/service-metrics.ts';
import type { AppendReply, Row } from '../../sqlite/event-log/event-log-writer.ts';
import { HEAPS, threadOptions } from '../../support/threads.ts';
import type { Configuration } from '../configuration.ts';

const ENTRY = new URL('./background-main.ts', import.meta.url);

/** The background thread before its first message, which is what it is to do: it loads its modules, and keeps no process alive. */
export const newBackgroundWorker = (): Worker => {
  const worker = new Worker(ENTRY, threadOptions('background', HEAPS.background));
  worker.unref();
  return worker;
};

export interface BackgroundData {
  readonly configuration: Omit<Configuration, 'masterKey' | 'previousMasterKey'>;
  /** Undefined where they are kept in files. */
  readonly masterKey: KeyObject | undefined;
  readonly previousMasterKey: KeyObject | undefined;
}

export interface Questions {
  readonly checks: Readonly<Record<string, string>>;
  readonly metrics: readonly MetricValues[];
}
export type Question = keyof Questions;

export type ToBackground =
  | { readonly kind: 'appended'; readonly position: number }
  | { readonly kind: 'append result'; readonly id: number; readonly reply: AppendReply }
  | { readonly kind: 'queued'; readonly webhookIds: readonly string[] }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | { readonly kind: 'stop' };

export type FromBackground =
  | { readonly kind: 'ready' }
  | { readonly kind: 'log'; readonly level: keyof Logger; readonly fields: object; readonly message: string }
  /** The log has one writer, which belongs to the main thread. */
  | { readonly kind: 'append'; readonly id: number; readonly append: Row; readonly characters: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Questions[Question] };
