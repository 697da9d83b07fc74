import type { CommandHandler } from '../command-handling/command-handler.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { DocumentInspector, DocumentStore } from '../ports/document-store.ts';
import type { EventStore } from '../ports/event-store.ts';

export interface LoanParts {
  readonly commands: CommandHandler;
  readonly events: EventStore;
  readonly vault: BorrowerVault;
  readonly documents: Pick<DocumentStore, 'put' | 'get' | 'open'>;
  readonly inspector: DocumentInspector;
  readonly clock: BusinessClock;
}
