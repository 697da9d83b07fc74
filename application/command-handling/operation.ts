import type { LoanEvent } from '../../domain/loan/events.ts';
import { fold, loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import type { LoanCode, RenegotiationId } from '../../domain/shared/identifiers.ts';
import { BEFORE_THE_FIRST, decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { Last } from '../event-codec/event-codec.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { RequestContext } from './request-context.ts';
import type { EventToAppend, RecordedEvent, StreamRevision } from '../ports/event-store.ts';

/**
 * `loan-<application>.<code>`: the code's characters outside letters, digits, `-` and `_` become `~` and two hexadecimal digits,
 * so that the name is safe in every store and the code can be read back. Application ids hold no dot.
 */
export const LOAN_STREAM_PREFIX = 'loan-';

const encode = (code: string): string =>
  code.replace(/[^A-Za-z0-9_-]/g, (c) => `~${c.charCodeAt(0).toString(16).padStart(2, '0')}`);

const decode = (encoded: string): string =>
  encoded.replace(/~([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

export interface OperationPlace {
  readonly applicationId: string;
  readonly code: string;
}

export const loanStream = (applicationId: string, code: string): string =>
  `${LOAN_STREAM_PREFIX}${applicationId}.${encode(code)}`;

export const parseLoanStream = (stream: string): OperationPlace | undefined => {
  const dot = stream.indexOf('.');
  if (!stream.startsWith(LOAN_STREAM_PREFIX) || dot < 0) return undefined;
  return { applicationId: stream.slice(LOAN_STREAM_PREFIX.length, dot), code: decode(stream.slice(dot + 1)) };
};

/** The application of an operation; of what is no operation there is one owner. */
export const ownerOf = (stream: string): string => parseLoanStream(stream)?.applicationId ?? '';

export const RENEGOTIATION_STREAM_PREFIX = 'renegotiation-';

export const renegotiationStream = (id: RenegotiationId): string => `${RENEGOTIATION_STREAM_PREFIX}${id}`;

export const FUND_STREAM_PREFIX = 'fund-';

/** The names of all funds: one stream, so that no two of them get the same one. */
export const FUND_NAMES_STREAM = `${FUND_STREAM_PREFIX}names`;

export const DESK_STREAM_PREFIX = 'desk-';

export const FOUR_EYES_STREAM = `${FUND_STREAM_PREFIX}four-eyes`;

export const DECISION_STREAM_PREFIX = 'decision-';

const BESIDE_OPERATIONS = [FUND_STREAM_PREFIX, DESK_STREAM_PREFIX, DECISION_STREAM_PREFIX];

/** A stream of which no row of a read model tells: whoever makes rows passes it by, and is not behind for it. */
export const isBesideOperations = (stream: string): boolean =>
  BESIDE_OPERATIONS.some((prefix) => stream.startsWith(prefix));

export const decisionStreamOf = (stream: string): string =>
  stream.replace(LOAN_STREAM_PREFIX, DECISION_STREAM_PREFIX);

export const decidedStreamOf = (stream: string): string =>
  stream.replace(DECISION_STREAM_PREFIX, LOAN_STREAM_PREFIX);

const sorted = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields);
  // Sorting takes a multiple of what the names take, and each installment of a schedule has its fields in order.
  if (names.some((name, i) => i > 0 && name < names[i - 1]!)) names.sort();
  const inOrder: Record<string, unknown> = {};
  for (const name of names) inOrder[name] = sorted(fields[name]);
  return inOrder;
};

/** JSON text with sorted fields and without absent ones: equal contents give equal texts, whatever order they came in. */
export const canonicalText = (value: unknown): string => JSON.stringify(sorted(value) ?? null);

export interface UsedKey {
  readonly endpoint: string;
  readonly key: string;
  readonly fingerprint: string;
}

export interface Operation extends Last {
  readonly state: LoanState;
  readonly revision: StreamRevision;
  /** Fingerprints of accepted requests by endpoint and key; grows in place, because keys are never given back. */
  readonly accepted: Map<string, string>;
  /** Of the texts that integrators choose, those keys and the codes of installments. */
  readonly chosenCharacters: number;
}

export const noOperation = (): Operation => ({
  state: loanDecider.initialState,
  revision: 'no_stream',
  ...BEFORE_THE_FIRST,
  accepted: new Map(),
  chosenCharacters: 0,
});

/** What the metadata of these events says of the fund: nothing before the operation is received. */
export const fundOf = (state: LoanState, events: readonly LoanEvent[]): { readonly fundId?: string } => {
  if ('fundId' in state) return { fundId: state.fundId };
  const reception = events.find((event) => event.type === 'LoanReceived');
  return reception ? { fundId: reception.fundId } : {};
};

/** A command as an integrator asks for it: about which operation, and under which key it may be repeated. The service adds the time. */
export type Asked<Command> = Omit<Command, 'type' | 'now'> & {
  readonly code: LoanCode;
  readonly idempotencyKey: string;
};

export const askedBy = ({ applicationId, clientId, requestId, onlyFundIds }: RequestContext) => ({
  applicationId,
  actor: clientId,
  correlationId: requestId,
  ...(onlyFundIds && { onlyFundIds }),
});

/** With its key, which it uses up for what it says. */
export const askedOnce = (
  vault: Pick<BorrowerVault, 'digest'>,
  context: RequestContext,
  endpoint: string,
  { idempotencyKey: key, ...contents }: Asked<object>,
) => ({
  stream: loanStream(context.applicationId, contents.code),
  ...askedBy(context),
  idempotency: {
    ...{ endpoint, key, fingerprint: vault.digest(canonicalText(contents)) },
    claimedIn: context.applicationId,
  },
});

export const seesFund = (
  { onlyFundIds }: Pick<RequestContext, 'onlyFundIds'>,
  fundId: string | null,
): boolean => onlyFundIds === undefined || (fundId !== null && onlyFundIds.includes(fundId));

/** The operation as its asker may see it: one of a fund that is not among these does not exist. */
export const visibleOf = (operation: Operation, onlyFundIds: readonly string[] | undefined): Operation =>
  !('fundId' in operation.state) || seesFund(onlyFundIds ? { onlyFundIds } : {}, operation.state.fundId)
    ? operation
    : { ...noOperation(), revision: operation.revision };

const mapKey = (endpoint: string, key: string): string => `${endpoint} ${key}`;

/** The fingerprint of the request that used the key up. */
export const acceptedUnder = (operation: Operation, endpoint: string, key: string): string | undefined =>
  operation.accepted.get(mapKey(endpoint, key));

export const advance = (
  operation: Operation,
  events: readonly LoanEvent[],
  stored: readonly EventToAppend[],
  revision: bigint,
): Operation => {
  let { chosenCharacters } = operation;
  for (const { metadata } of stored) {
    const { idempotency: used } = metadata;
    if (!used) continue;
    const key = mapKey(used.endpoint, used.key);
    operation.accepted.set(key, used.fingerprint);
    chosenCharacters += key.length;
  }
  const state = fold(operation.state, events);
  if ('schedule' in state && !('schedule' in operation.state))
    for (const { length } of state.schedule.codes) chosenCharacters += length;
  return {
    state,
    revision,
    hash: stored.at(-1)?.metadata.hash ?? operation.hash,
    recordedAt: stored.at(-1)?.metadata.recordedAt ?? operation.recordedAt,
    accepted: operation.accepted,
    chosenCharacters,
  };
};

export const replay = (events: readonly RecordedEvent[], revision: StreamRevision): Operation =>
  revision === 'no_stream'
    ? noOperation()
    : advance(noOperation(), events.map(decodeLoanEvent), events, revision);
