import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent, LoanState } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { loanStream } from '../command-handling/stream-names.ts';
import type { Clock } from '../ports/clock.ts';
import type { DocumentInspector, DocumentStore } from '../ports/document-store.ts';
import type { Outcome, RequestContext } from '../request-context.ts';
import type { AddDocumentsInput, DocumentsReceipt } from './inputs.ts';
import { documentsOf, fileNamed } from './named-documents.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly documents: Pick<DocumentStore, 'put'>;
  readonly inspector: DocumentInspector;
  readonly clock: Clock;
}

/** The only type that may come as a Word document. */
const DEBT_ACKNOWLEDGEMENT = 'renegotiation_document';

/** Adds documents to an operation. A document's name is its key: the same name with the same content is a replay. */
export class AddDocuments {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError `invalid_file`, `loan_not_found`, `idempotency_conflict`, `operation_invalid_state` */
  async execute(context: RequestContext, input: AddDocumentsInput): Promise<Outcome<DocumentsReceipt>> {
    await this.#inspect(input);
    const stream = loanStream(context.applicationId, input.code);
    const handled = await this.#deps.commands.handle({
      stream,
      applicationId: context.applicationId,
      actor: context.clientId,
      correlationId: context.requestId,
      decide: (state) => this.#add(stream, input, state),
    });
    // Nothing to add means that an earlier request had added all of it.
    const replayed = handled.replayed || handled.events.length === 0;
    return { replayed, result: receiptOf(input, handled.state) };
  }

  async #inspect({ documents, files }: AddDocumentsInput): Promise<void> {
    for (const { type, value } of documents) {
      const kind = await this.#deps.inspector.inspect(fileNamed(files, value));
      if (kind === 'pdf' || type === DEBT_ACKNOWLEDGEMENT) continue;
      throw new DomainError(
        'invalid_file',
        `${value}: only a ${DEBT_ACKNOWLEDGEMENT} may be a Word document; send a PDF`,
      );
    }
  }

  /** Decided first, so that a refused request stores nothing; then contents are durable before the event that names them. */
  async #add(stream: string, input: AddDocumentsInput, state: LoanState): Promise<readonly LoanEvent[]> {
    const now = this.#deps.clock.now();
    const documents = documentsOf(input, now);
    const events = loanDecider.decide({ type: 'AddDocuments', documents, now }, state);
    const added = events.flatMap((event) => (event.type === 'DocumentsAdded' ? event.documents : []));
    await Promise.all(
      added.map(({ value }) => this.#deps.documents.put(stream, fileNamed(input.files, value))),
    );
    return events;
  }
}

const receiptOf = ({ code, documents }: AddDocumentsInput, state: LoanState): DocumentsReceipt => {
  const present = 'documents' in state ? state.documents : [];
  const byName = new Map(present.map((document) => [document.value, document]));
  return {
    code,
    documents: documents.map(({ value }) => {
      const document = byName.get(value);
      if (!document) throw new Error('an accepted document stands in the state');
      return document;
    }),
  };
};
