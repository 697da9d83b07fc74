import { pendingInstallment } from '../../domain/installment/installment.ts';
import type { Installment, ScheduledInstallment } from '../../domain/installment/installment.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import type { AcceptedRequest, Operation } from './operation.ts';

type Scheduled = Extract<LoanState, { schedule: unknown }>;
type WithoutInstallments = Omit<Scheduled, 'schedule' | 'indexByCode' | 'installments'>;
type Changed = readonly [index: number, rest: Omit<Installment, keyof ScheduledInstallment>];

/** No other process ever reads it. */
interface Packed {
  readonly of: Pick<Operation, 'hash'> & { readonly recordedAt?: string | undefined };
  readonly revision?: number;
  /** Key, fingerprint and revision of each accepted request, flat. */
  readonly accepted: readonly (string | number)[];
  readonly state: LoanState | WithoutInstallments;
  readonly codes?: readonly string[];
  readonly dueDates?: readonly string[];
  readonly faceValues?: readonly number[];
  readonly changed?: readonly Changed[];
}

const restOf = ({ code: _, dueDate: _due, faceValue: _value, ...rest }: Installment): Changed[1] => rest;

const isUntouched = (installment: Installment): boolean =>
  installment.status === 'pending' && installment.credits.length === 0;

const packState = (
  state: LoanState,
): Pick<Packed, 'state' | 'codes' | 'dueDates' | 'faceValues' | 'changed'> => {
  if (!('schedule' in state)) return { state };
  const { schedule, indexByCode: _, ...rest } = state;
  const columns = {
    codes: schedule.map(({ code }) => code),
    dueDates: schedule.map(({ dueDate }) => dueDate),
    faceValues: schedule.map(({ faceValue }) => faceValue),
  };
  if (!('installments' in rest)) return { state: rest, ...columns };
  const { installments, ...others } = rest;
  const changed = installments.flatMap((installment, index): Changed[] =>
    isUntouched(installment) ? [] : [[index, restOf(installment)]],
  );
  return { state: others, ...columns, changed };
};

const unpackState = ({ state, codes, dueDates, faceValues, changed }: Packed): LoanState => {
  if (!codes || !dueDates || !faceValues) return state as LoanState;
  const schedule = codes.map(
    (code, i) => ({ code, dueDate: dueDates[i], faceValue: faceValues[i] }) as ScheduledInstallment,
  );
  const scheduled = { ...state, schedule, indexByCode: new Map(codes.map((code, index) => [code, index])) };
  if (!changed) return scheduled as LoanState;
  const installments: Installment[] = schedule.map(pendingInstallment);
  for (const [index, rest] of changed) installments[index] = { ...schedule[index], ...rest } as Installment;
  return { ...scheduled, installments } as LoanState;
};

export const packOperation = ({ state, revision, hash, recordedAt, accepted }: Operation): string => {
  const flat: (string | number)[] = [];
  for (const [key, { fingerprint, revision: at }] of accepted) flat.push(key, fingerprint, Number(at));
  const packed: Packed = {
    of: { hash, recordedAt },
    ...(revision !== 'no_stream' && { revision: Number(revision) }),
    accepted: flat,
    ...packState(state),
  };
  return JSON.stringify(packed);
};

export const unpackOperation = (text: string): Operation => {
  const packed = JSON.parse(text) as Packed;
  const accepted = new Map<string, AcceptedRequest>();
  const flat = packed.accepted as readonly [string, string, number];
  for (let i = 0; i < flat.length; i += 3)
    accepted.set(flat[i] as string, {
      fingerprint: flat[i + 1] as string,
      revision: BigInt(flat[i + 2] as number),
    });
  return {
    state: unpackState(packed),
    revision: packed.revision === undefined ? 'no_stream' : BigInt(packed.revision),
    hash: packed.of.hash,
    recordedAt: packed.of.recordedAt,
    accepted,
  };
};

/** Bytes of the objects of V8 that an operation in use is made of, as measured; what is priced line by line has as many lines. */
const [OF_ALL, AN_INSTALLMENT, A_KEY, A_LINE, A_DOCUMENT] = [2_500, 230, 350, 80, 600];

export const liveBytes = ({ state, accepted }: Operation): number => {
  if (!('schedule' in state)) return OF_ALL + accepted.size * A_KEY;
  let lines = 'repurchase' in state ? state.repurchase.lines.length : 0;
  if ('prepayments' in state) for (const one of state.prepayments) lines += 5 + one.lines.length;
  return (
    OF_ALL +
    state.schedule.length * AN_INSTALLMENT +
    accepted.size * A_KEY +
    lines * A_LINE +
    state.documents.length * A_DOCUMENT
  );
};
