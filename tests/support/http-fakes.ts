import { Readable } from 'node:stream';
import type { Administrator } from '../../application/administrator/administrator.ts';
import type { DocumentsReceipt } from '../../application/loans/add-documents.ts';
import type { AskedPrepayment, AskedRepurchase } from '../../application/loans/payments.ts';
import type { LoanReceipt } from '../../application/loans/assign-loan.ts';
import type { LoanDetails } from '../../application/loans/loan-details.ts';
import { SCOPES } from '../../application/clients/scopes.ts';
import { InvalidTokenError, TokenExpiredError } from '../../application/clients/tokens.ts';
import type { TokenClaims } from '../../application/clients/tokens.ts';
import type { Client, Application } from '../../application/clients/client-registry.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Feed } from '../../application/publication/feed.ts';
import type { Renegotiation, RenegotiationReceipt } from '../../application/renegotiation/renegotiation.ts';
import type { SandboxClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import type { Webhooks } from '../../application/webhooks/webhooks.ts';
import type { Loans } from '../../application/loans/loans.ts';
import { acceptingWebhooks } from './accepting-webhooks.ts';

export const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
export const NOW = '2026-01-15T12:00:00.000Z';

export const client = (overrides: Partial<Client> = {}): Client => ({
  clientId: 'client-a',
  applicationId: 'app-a',
  name: 'A',
  rateLimitMultiplier: 1,
  createdAt: NOW,
  revokedAt: null,
  ...overrides,
});

/** `scopes` as in a token; all by default. */
export const tokenFor = (clientId: string, scopes: readonly string[] = SCOPES): string =>
  `ok.${clientId}.${scopes.join('+')}`;

export const verifyFake = async (token: string): Promise<TokenClaims> => {
  if (token === 'expired') throw new TokenExpiredError('expired');
  const [kind, clientId, scopes] = token.split('.');
  if (kind !== 'ok' || !clientId || scopes === undefined) throw new InvalidTokenError('not a token');
  return { clientId, scopes: scopes.split('+'), expiresAt: 4_000_000_000 };
};

export class FakeClients {
  readonly clients = new Map<string, { client: Client; application: Application }>();

  add(
    added: Client,
    fundIds: readonly string[] = [FUND],
    of: Pick<Client, 'rateLimitMultiplier'> = added,
  ): void {
    const { applicationId } = added;
    const application = { applicationId, fundIds, rateLimitMultiplier: of.rateLimitMultiplier };
    this.clients.set(added.clientId, { client: added, application });
  }

  async resolve(clientId: string) {
    return this.clients.get(clientId);
  }

  readonly lookUp = (clientId: string) => this.resolve(clientId);
}

export class MemoryLogger implements Logger {
  readonly lines: { level: string; fields: object; message: string }[] = [];
  error(fields: object, message: string): void {
    this.lines.push({ level: 'error', fields, message });
  }
  warn(fields: object, message: string): void {
    this.lines.push({ level: 'warn', fields, message });
  }
  info(): void {}
  debug(): void {}
}

export const loanDetails = {
  loan: {
    code: 'OP-1',
    fund_id: FUND,
    status: 'active',
    product_type: 'financing',
    acquisition_value: 180_000,
    number_of_installments: 1,
    date_issued: '2026-01-15',
    received_at: NOW,
    updated_at: NOW,
    version: 4,
  },
  statusHistory: [{ status: 'received', at: NOW }],
  borrower: { documentType: 'CPF', documentNumber: '*********25', name: 'Maria' },
  installments: [
    {
      code: '001',
      dueDate: '2026-02-15',
      faceValue: 95_000,
      status: 'pending',
      settledAt: null,
      settledValue: null,
      paymentMethod: null,
      outstandingValue: 95_000,
    },
  ],
  documents: [
    {
      documentId: '2d0c6a0e-51c4-4a0a-9a35-5b0d6f2f9a11',
      type: 'ccb',
      value: 'ccb.pdf',
      sha256: 'a'.repeat(64),
      size: 10,
      receivedAt: NOW,
    },
  ],
  prepayments: [],
  balances: { openFaceValue: 95_000, receivedValue: 0, payoffValue: 94_010, payoffDate: '2026-01-20' },
} as unknown as LoanDetails;

const quoteLine = { dueDate: '2026-12-15', faceValue: 95_000, days: 178, presentValue: 90_120 };
const quoted = {
  pricing: { policy: 'curve_v1', dailyFactor: '0.9997' },
  calculatedAt: NOW,
};

const prepaymentQuote = (input: AskedPrepayment) =>
  ({
    ...quoted,
    ...input,
    resultingStatus: 'active',
    payoffValue: 614_733,
    settledInstallments: ['012'],
    remainingBalance: 314_733,
    excessValue: 0,
    lines: [{ ...quoteLine, installmentCode: '012', paidOff: true }],
  }) as never;

const repurchaseQuote = (input: AskedRepurchase) =>
  ({
    ...quoted,
    ...input,
    resultingStatus: 'repurchase_pending',
    repurchaseValue: 614_733,
    calculatedValue: 614_733,
    valueSource: 'calculated',
    acquisitionValue: 1_000_000,
    disbursedValue: 990_000,
    exitBasis: 'disbursed_value',
    receivedValue: 475_000,
    lines: [{ ...quoteLine, installmentCode: '012' }],
  }) as never;

type Changeable<Module> = { -readonly [Name in keyof Module]: Module[Name] };

const EXACT = { status: 'settled', difference: 0, surplus: 0 };

/** Operations that accept everything. */
const acceptingLoans = (): Changeable<Loans> =>
  ({
    assign: async (_context, input) => ({
      replayed: false,
      result: {
        code: input.code,
        status: 'received',
        fundId: input.fundId,
        receivedAt: NOW,
      } as unknown as LoanReceipt,
    }),
    settle: async (_context, input) => ({
      replayed: false,
      result: { ...input, ...EXACT, processedAt: NOW } as never,
    }),
    prepay: async (_context, input) => ({
      replayed: false,
      result: {
        ...input,
        status: 'prepayment_processed',
        settledInstallments: ['012', '011', '010'],
        remainingBalance: 314_733,
        excessValue: 0,
        partiallyPaid: { installmentCode: '009', outstandingValue: 43_645 },
        processedAt: NOW,
      } as never,
    }),
    repurchase: async (_context, input) => ({
      replayed: false,
      result: {
        ...input,
        status: 'repurchase_pending',
        repurchaseValue: input.repurchaseValue ?? 614_733,
        calculatedAt: NOW,
      } as never,
    }),
    quoteAssignment: async (_context, { code, fundId, acquisitionValue, installments, files }) =>
      ({
        ...quoted,
        ...{ code, fundId, acquisitionValue },
        resultingStatus: 'received',
        annualRate: '0.1157000000',
        faceValue: 190_050,
        lines: installments.map((one) => ({ ...quoteLine, ...one, installmentCode: one.code })),
        filesChecked: files.length > 0,
      }) as never,
    quoteSettlement: async (_context, input) =>
      ({
        ...input,
        resultingStatus: 'active',
        pricing: { policy: 'curve_v1', dailyFactor: '0.999' },
        lines: [
          {
            installmentCode: input.installmentCode,
            dueDate: '2026-02-15',
            days: 0,
            faceValue: 95_000,
            scheduledValue: 95_000,
            settledValue: input.settledValue,
            difference: 0,
            surplus: 0,
            lateDays: 0,
          },
        ],
        calculatedAt: NOW,
      }) as never,
    quotePrepayment: async (_context, input) => prepaymentQuote(input),
    quoteRepurchase: async (_context, input) => repurchaseQuote(input),
    addDocuments: async (_context, { code, documents, files }) => ({
      replayed: false,
      result: {
        code,
        documents: documents.map(({ type, value }, i) => ({
          documentId: '2d0c6a0e-51c4-4a0a-9a35-5b0d6f2f9a11',
          type,
          value,
          sha256: files[i]?.sha256,
          size: files[i]?.size,
          receivedAt: NOW,
        })),
      } as unknown as DocumentsReceipt,
    }),
    read: async () => loanDetails,
    document: async () => {
      const content = Buffer.from('%PDF-1.4 content');
      const pieces = Readable.from([content]);
      return { name: 'ccb.pdf', sha256: 'a'.repeat(64), size: content.length, pieces };
    },
    list: async () => ({ loans: [loanDetails.loan], nextCursor: null }),
  }) as Partial<Loans> as Loans;

/** The modules as the interface calls them. */
interface Behaviour {
  loans: Changeable<Loans>;
  renegotiation: Changeable<Pick<Renegotiation, 'renegotiate' | 'quote'>>;
  webhooks: Webhooks;
  publication: { feed: Pick<Feed, 'page'> };
  administrator: Changeable<Pick<Administrator, 'disbursesAsAsked'>>;
  maintenance: { sandboxClock: Pick<SandboxClock, 'show' | 'move'> };
}

/** Use cases that accept everything. */
export const acceptingUseCases = (): Behaviour => ({
  loans: acceptingLoans(),
  renegotiation: {
    renegotiate: async (_context, { originalProposalCodes, effectiveDate, ...asked }) => ({
      replayed: false,
      result: {
        originalProposalCodes,
        newProposal: { code: asked.newProposalCode, status: 'received' },
        effectiveDate,
        processedAt: NOW,
      } as unknown as RenegotiationReceipt,
    }),
    quote: async (_context, { originalProposalCodes, effectiveDate, ...asked }) =>
      ({
        originals: originalProposalCodes.map((code) => ({ code, openFaceValue: 95_000, presentValue: null })),
        newProposal: {
          code: asked.newProposalCode,
          acquisitionValue: asked.acquisitionValue,
          numberOfInstallments: asked.installments.length,
          pricing: { policy: 'curve_v1', dailyFactor: '0.999' },
        },
        effectiveDate,
        lines: originalProposalCodes.map((code) => ({
          code,
          installmentCode: '001',
          dueDate: '2026-02-15',
          days: -3,
          faceValue: 95_000,
          presentValue: 95_123,
        })),
        calculatedAt: NOW,
      }) as never,
  },
  webhooks: acceptingWebhooks(),
  publication: { feed: { page: async () => ({ events: [], nextAfter: null, hasMore: false }) } },
  administrator: { disbursesAsAsked: async () => true },
  maintenance: {
    sandboxClock: {
      show: async () => ({ now: NOW as never, offsetMs: 0 }),
      move: async () => ({ now: NOW as never, offsetMs: 2_592_000_000 }),
    },
  },
});
