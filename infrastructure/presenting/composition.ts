import type { AnalysedPortfolio } from '../../application/portfolio/composition.ts';
import { printedRows } from './columns.ts';
import type { Column, Printing, Rows } from './columns.ts';
import { statusName } from './status-name.ts';

interface Line {
  readonly by: 'application' | 'state' | 'product' | 'borrower' | 'operation';
  /** From 1, where the largest are told. */
  readonly rank?: number;
  readonly name: string;
  readonly operations: number;
  readonly presentValue: number;
  /** The largest operation of a borrower, or the operation itself. */
  readonly applicationId?: string;
  readonly code?: string;
}

const columnsFor = (whole: number): readonly Column<Line>[] => [
  { name: 'by', of: ({ by }) => by },
  { name: 'rank', of: ({ rank }) => rank },
  {
    name: 'name',
    of: ({ name }) => name,
    brazilian: ({ by, name }) => (by === 'state' ? statusName(name, 'pt-BR') : name),
  },
  { name: 'operations', of: ({ operations }) => operations },
  { name: 'present_value', of: ({ presentValue }) => presentValue, amount: true },
  {
    name: 'share',
    of: ({ presentValue }) => JSON.rawJSON((whole === 0 ? 0 : presentValue / whole).toFixed(6)),
  },
  { name: 'application_id', of: ({ applicationId }) => applicationId },
  { name: 'originator_proposal_code', of: ({ code }) => code },
];

const UNKNOWN = 'unknown';

function* linesOf(
  { applications, states, products, concentration, largest }: AnalysedPortfolio,
  documents: ReadonlyMap<string, string | null>,
): Generator<Line> {
  const parts = { application: applications, state: states, product: products };
  for (const by of ['application', 'state', 'product'] as const)
    for (const { name = UNKNOWN, operations, presentValue } of parts[by])
      yield { by, name, operations, presentValue };
  const { borrowers, others, unknown } = concentration;
  for (const [i, { operations, presentValue, largest: own }] of borrowers.entries()) {
    const { applicationId, code } = own;
    const name = documents.get(own.stream) ?? UNKNOWN;
    yield { by: 'borrower', rank: i + 1, name, operations, presentValue, applicationId, code };
  }
  const rest = [
    { name: 'others', ...others },
    { name: UNKNOWN, ...unknown },
  ];
  for (const { name, operations, presentValue } of rest)
    if (operations > 0) yield { by: 'borrower', name, operations, presentValue };
  for (const [i, { applicationId, code, presentValue }] of largest.entries())
    yield { by: 'operation', rank: i + 1, name: code, operations: 1, presentValue, applicationId, code };
}

/**
 * What a position is made of, as text, in pieces.
 * @param documents masked, by the stream of a borrower's largest operation
 */
export const printComposition = (
  analysed: AnalysedPortfolio,
  documents: ReadonlyMap<string, string | null>,
  printing: Printing,
): Rows<string> =>
  printedRows(columnsFor(analysed.position.open.presentValue), linesOf(analysed, documents), printing);
