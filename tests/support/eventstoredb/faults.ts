import * as grpc from '@grpc/grpc-js';
import { failure } from './wire.ts';

/** What a call told about itself before it was answered. */
interface SeenCall {
  readonly method: 'Append' | 'BatchAppend' | 'GetSupportedMethods' | 'Gossip' | 'Read' | 'Subscribe';
  readonly peer: string;
  readonly authorization: string | undefined;
}

interface Call {
  readonly metadata: grpc.Metadata;
  getPeer(): string;
}

/** Everything that a test can make go wrong in the stand-in, from now on until it is set back. */
export class Faults {
  /** `unanswered`: stored, and nobody hears of it; `lost`: neither; `answer_failing`: stored and answered with a failure. */
  appends: 'answered' | 'unanswered' | 'lost' | 'refused' | 'answer_failing' | 'phase_timeout' = 'answered';
  phaseTimeoutMs = 2_000;
  /** An append that is under way already times out after so long, as in the real server now and then. */
  equalAppendsTimeOutAfterMs: number | undefined;
  appendFailure: grpc.ServiceError = failure(grpc.status.UNKNOWN, 'injected');
  appendDelayMs = 0;
  /** Which streams the three above are about. */
  appendsTo: (stream: string) => boolean = () => true;
  reads: 'answered' | 'unanswered' | 'failing' = 'answered';
  /** `silent`: open, confirmed, and never again a word. */
  subscriptions: 'answered' | 'silent' | 'unconfirmed' = 'answered';
  features: 'answered' | 'unanswered' | 'failing' = 'answered';
  /** Servers before 23.10 do not say when a subscription has caught up. */
  saysCaughtUp = true;
  /** Of a live subscriber behind which too much has gathered: until 23.10 it is dropped, since 24.2 it is told so. */
  slowSubscribers: 'dropped' | 'told' = 'dropped';
  /** Who may not read $all. */
  mayReadAll = true;
  /** How often a subscription has been handed a message. */
  messagesSent = 0;
  /** Appends that came over the batch call. */
  batched = 0;
  readonly calls: SeenCall[] = [];

  seen(method: SeenCall['method'], call: Call): void {
    const [authorization] = call.metadata.get('authorization');
    this.calls.push({ method, peer: call.getPeer(), authorization: authorization?.toString() });
  }

  count(method: SeenCall['method']): number {
    return this.calls.filter((call) => call.method === method).length;
  }
}
