import type { ShowOperation } from '../../application/audit/show-operation.ts';
import type { DecisionAnswer } from '../../application/administrator/decision-desk.ts';
import type { LoanDetails } from '../../application/loans/loan-details.ts';
import type { DocumentContent } from '../../application/loans/read-loan.ts';
import type { AnalysedPortfolio } from '../../application/portfolio/analyse-portfolio.ts';
import type { PortfolioRequest } from '../../application/portfolio/show-portfolio.ts';
import type { EventDelivery } from '../../application/ports/delivery-log.ts';
import type { Desk } from '../../application/ports/desk.ts';
import type { RecordedEvent } from '../../application/ports/event-store.ts';
import type {
  FoundOperation,
  OperationQuery,
  SearchPlace,
} from '../../application/ports/operation-search.ts';
import type { WebhookSubscription } from '../../application/ports/webhook-subscriptions.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { ReportServices } from './report-services.ts';

export interface Lag {
  /** Whether a service was found beside this console. */
  readonly running: boolean;
  /** Events that each part of it has still to take in; a number below `atLeast` is exact. */
  readonly followers: readonly {
    readonly name: string;
    readonly behind: number;
    readonly atLeast: boolean;
  }[];
  /** Since when the oldest delivery waits, ISO 8601 UTC; null when none does. */
  readonly oldestDelivery: string | null;
}

/** What the pages need of the service. A page adds what it uses here, and `composition/areas/console.ts` provides it. */
export interface ConsoleServices extends ReportServices {
  /** Now by the business clock, ISO 8601 UTC. */
  now(): string;
  /** Now by the real clock, by which deliveries and sessions go. */
  realNow(): string;
  /** The calendar date in America/Sao_Paulo. */
  today(): CalendarDate;
  readonly desk: Desk;
  readonly operations: OperationServices;
  readonly portfolio: PortfolioPages;
  /** Endpoints of every application, oldest first. */
  endpoints(): Promise<readonly WebhookSubscription[]>;
  /** How far what follows the log is behind it. */
  lag(): Promise<Lag>;
  /** Carries out decisions in the operator's name, each given as JSON text, and answers in their order; what they changed is in every read after it. */
  decide(texts: readonly string[], operator: string): Promise<readonly DecisionAnswer[]>;
  /** Differs as soon as something was recorded or delivered; asked every few seconds while a page is open. */
  changes(): Promise<string>;
}

/** A delivery with where it goes. */
export interface ShownDelivery extends EventDelivery {
  readonly url: string;
}

export interface ListedOperation extends FoundOperation {
  /** Of the borrower, masked; null once it was forgotten, or where its key is missing. */
  readonly document: string | null;
}

export type OperationFilter = Omit<OperationQuery, 'streams' | 'after' | 'limit'> & {
  /** CPF or CNPJ of the borrower, without punctuation. */
  readonly document?: string;
};

/** Operations of every application. */
export interface OperationServices {
  search(
    query: OperationFilter & Pick<OperationQuery, 'after' | 'limit'>,
  ): Promise<{ readonly operations: readonly ListedOperation[]; readonly next: SearchPlace | undefined }>;
  /** All of them, with the columns of `loan list`. */
  csv(filter: OperationFilter, signal: AbortSignal): AsyncIterable<string>;
  readonly show: ShowOperation['execute'];
  /**
   * With every write that was answered before, the borrower's document masked; undefined when there is none.
   * @throws ReadModelBehindError
   */
  read(applicationId: string, code: string): Promise<LoanDetails | undefined>;
  /** @throws DomainError `loan_not_found`, `document_not_found` */
  document(applicationId: string, code: string, documentId: string): Promise<DocumentContent>;
  /** Of what was published of these events of one operation, by the event's id; oldest first. */
  deliveries(events: readonly RecordedEvent[]): Promise<readonly ShownDelivery[]>;
  /** Names of those among these actors that are clients. */
  clientNames(actors: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Positions of funds. */
export interface PortfolioPages {
  /** With everything that was recorded before; the same answer until something more is. Takes seconds for a large fund. */
  analyse(request: Pick<PortfolioRequest, 'fundId' | 'date'>): Promise<AnalysedPortfolio>;
  /** Masked documents of the borrowers of these operations; null for one that was forgotten, or whose key is missing. */
  documents(streams: readonly string[]): Promise<ReadonlyMap<string, string | null>>;
  /** As `portfolio -o csv` prints it. */
  csv(analysed: AnalysedPortfolio): AsyncIterable<string>;
  /** By application, state and product, and the largest borrowers and operations, with their shares. */
  compositionCsv(analysed: AnalysedPortfolio): AsyncIterable<string>;
}
