import type { CommandHandler } from '../../application/command-handling/command-handler.ts';
import { loanStream, replay } from '../../application/command-handling/operation.ts';
import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import type { OwnWrites } from '../../application/loans/read-model-progress.ts';
import type { Borrower, BorrowerVault } from '../../application/ports/borrower-vault.ts';
import type {
  DocumentStore,
  FileKind,
  ReceivedFile,
  StoredContent,
} from '../../application/ports/document-store.ts';
import type { EventStore, RecordedEvent } from '../../application/ports/event-store.ts';
import type { AskedRenegotiation } from '../../application/renegotiation/request.ts';
import type { Renegotiation } from '../../application/renegotiation/renegotiation.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanCommand, LoanState, ReceiveLoan } from '../../domain/loan/index.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { FundId, LoanCode } from '../../domain/shared/identifiers.ts';
import { cents } from '../../domain/shared/money.ts';
import { installmentCode, receiveL1 } from '../domain/support/loan-story.ts';
import { loanCode } from '../domain/support/renegotiation-story.ts';
import { FUND, NOW, applicationProcess, fixedClock, openVault } from './application-parts.ts';
import type { TestClock } from './application-parts.ts';
import { InMemoryEventStore } from './in-memory-event-store.ts';
import { oneLookAtTheLog } from './log-followers.ts';
import { receivedFile } from './received-file.ts';

export const APPLICATION = 'app-1';
export const streamOf = (code: string): string => loanStream(APPLICATION, code);

export const ana: Borrower = {
  document_number: '52998224725',
  document_type: 'CPF',
  name: 'Ana',
  address: { zip_code: '01310100', street: 'A', number: '1', city: 'Sao Paulo', state: 'SP' },
};

/** Contents by operation, as `stream/digest`. */
export class MemoryDocuments implements Omit<DocumentStore, 'remove'> {
  readonly stored = new Set<string>();
  put(stream: string, file: ReceivedFile): Promise<void> {
    this.stored.add(`${stream}/${file.sha256}`);
    return Promise.resolve();
  }
  get = (stream: string, sha256: string): Promise<Uint8Array | undefined> =>
    Promise.resolve(this.stored.has(`${stream}/${sha256}`) ? new Uint8Array() : undefined);
  async open(stream: string, sha256: string): Promise<StoredContent | undefined> {
    if (!this.stored.has(`${stream}/${sha256}`)) return undefined;
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(sha256);
    };
    return { size: sha256.length, pieces: pieces() };
  }
  copy(from: string, to: string, sha256: string): Promise<boolean> {
    const there = this.stored.has(`${from}/${sha256}`);
    if (there) this.stored.add(`${to}/${sha256}`);
    return Promise.resolve(there);
  }
}

export interface Process {
  readonly commands: CommandHandler;
  readonly events: EventStore;
  readonly renegotiation: Renegotiation;
}

interface Around {
  readonly documents?: MemoryDocuments;
  readonly clock?: TestClock;
  readonly kind?: FileKind;
  readonly vault?: BorrowerVault;
  /** Are told what it appends. */
  readonly writes?: Pick<OwnWrites, 'note'>;
}

/** A process of its own over a store that others use too. */
export const startProcess = (events: EventStore, around: Around = {}): Process => {
  const { documents = new MemoryDocuments(), clock = fixedClock(), kind = 'pdf', vault = openVault } = around;
  const inspector = { inspect: () => Promise.resolve(kind) };
  const { writes } = around;
  const onAppended = writes?.note.bind(writes);
  return { events, ...applicationProcess(events, clock, { vault, documents, inspector, onAppended }) };
};

export const command = async (commands: CommandHandler, code: string, one: LoanCommand) =>
  commands.handle({
    stream: streamOf(code),
    applicationId: APPLICATION,
    actor: 'test',
    correlationId: 'test',
    decide: (state) => loanDecider.decide(one, state),
  });

export const activation: readonly LoanCommand[] = [
  { type: 'ApproveLoan', now: NOW },
  { type: 'SignLoanTerm', now: NOW },
  { type: 'DisburseLoan', now: NOW },
];

/** An active operation with its borrower sealed and its document stored. */
export const activeLoan = async (
  { commands }: Process,
  documents: MemoryDocuments,
  code: string,
  {
    borrower = ana,
    ...changes
  }: Partial<Omit<ReceiveLoan, 'borrower'>> & { readonly borrower?: Borrower } = {},
): Promise<void> => {
  const stream = streamOf(code);
  const received: ReceiveLoan = {
    ...receiveL1,
    fundId: FUND as FundId,
    code: loanCode(code),
    borrower: await openVault.seal(stream, borrower),
    ...changes,
  };
  for (const { sha256 } of received.documents) documents.stored.add(`${stream}/${sha256}`);
  for (const one of [received, ...activation]) await command(commands, code, one);
};

export const pay = (commands: CommandHandler, code: string, installment: string) =>
  command(commands, code, {
    type: 'SettleInstallment',
    installmentCode: installmentCode(installment),
    settledAt: calendarDate('2026-06-15'),
    settledValue: cents(95_000),
    paymentMethod: 'pix',
    now: NOW,
  });

/** The operation that takes the place of others. */
type NewProposal = Omit<
  AskedRenegotiation,
  'originalProposalCodes' | 'effectiveDate' | 'files' | 'newProposalCode'
> & {
  readonly code: LoanCode;
};

export const newProposal = (changes: Partial<NewProposal> = {}): NewProposal => ({
  code: loanCode('N1'),
  acquisitionValue: cents(600_000),
  installments: [
    { code: installmentCode('1'), dueDate: calendarDate('2026-08-20'), faceValue: cents(310_000) },
    { code: installmentCode('2'), dueDate: calendarDate('2026-09-20'), faceValue: cents(310_000) },
  ],
  ...changes,
});

export const renegotiation = (
  originals: readonly string[] = ['L1'],
  {
    newProposal: { code, ...terms } = newProposal(),
    ...changes
  }: Partial<AskedRenegotiation> & { readonly newProposal?: NewProposal } = {},
): AskedRenegotiation => ({
  originalProposalCodes: originals.map(loanCode),
  newProposalCode: code,
  ...terms,
  effectiveDate: calendarDate('2026-06-20'),
  files: [],
  ...changes,
});

export const eventsOf = async (events: EventStore, stream: string): Promise<readonly DomainEvent[]> =>
  (await events.read(stream)).events.map(decodeEvent);

export const stateOf = async ({ events: store }: Process, code: string): Promise<LoanState> => {
  const { events, revision } = await store.read(streamOf(code));
  return replay(events, revision).state;
};

export const statusOf = async (process: Process, code: string): Promise<string> =>
  (await stateOf(process, code)).status;

/** A store with these operations active, a process over it, and others on demand. */
export const worldWith = async (...codes: readonly string[]) => {
  const store = new InMemoryEventStore();
  const documents = new MemoryDocuments();
  const process = startProcess(store, { documents });
  for (const code of codes) await activeLoan(process, documents, code);
  return { store, documents, process, another: () => startProcess(store, { documents }) };
};

export const typesOf = async (events: EventStore, code: string): Promise<readonly string[]> =>
  (await eventsOf(events, streamOf(code))).map(({ type }) => type);

export const logOf = async (store: InMemoryEventStore): Promise<readonly RecordedEvent[]> => {
  const { subscription, signal } = oneLookAtTheLog(store);
  const log: RecordedEvent[] = [];
  for await (const message of subscription.subscribe({ from: 'start', signal })) {
    if (message.kind === 'events') log.push(...message.events);
  }
  return log;
};

/** What makes a request one with a document of its own. */
export const withDocument = (type = 'renegotiation_document') => ({
  newProposal: newProposal({ documents: [{ type, value: 'debt.pdf' }] }),
  files: [receivedFile('debt.pdf', '', { size: 3, sha256: 'cc'.repeat(32) })],
});
