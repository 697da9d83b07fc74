import type { Desk } from '../../application/desk-view/desk.ts';
import { count } from './format.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { inLanguages } from './language.ts';
import { textFile } from './page.ts';
import type { Rows } from '../presenting/columns.ts';

const texts = inLanguages({
  leftOut: (operations: string, codes: string) => [
    `Nem tudo está aqui: ${operations} em quarentena, como eram antes de um evento que não pôde ser lido (${codes}). Quem opera o serviço vê o motivo com receivables quarantine list.`,
    `Not all is in it: ${operations} in quarantine, as they were before an event that could not be read (${codes}). Who operates the service sees why with receivables quarantine list.`,
  ],
});

const MOST_NAMED = 5;

type Loans = Pick<Desk, 'loans'>;

/** Default: of all funds that the person sees. */
const leftOutOf = async ({ loans }: Loans, funds?: readonly string[]) =>
  (await loans.leftOut()).filter(({ fundId }) => !funds || fundId === undefined || funds.includes(fundId));

/** What a list or a report of these funds has to say of itself. */
export const leftOutView = async (app: Loans, funds?: readonly string[]): Promise<View> => {
  const all = await leftOutOf(app, funds);
  if (all.length === 0) return null;
  const named = all.slice(0, MOST_NAMED).map(({ code }) => code);
  const codes = [...named, ...(all.length > named.length ? ['…'] : [])].join(', ');
  return html`<p class="problem" role="note">${texts.leftOut(count(all.length), codes)}</p>`;
};

/** The same of a file: its name says so, since a program that reads it takes every line of it for a row. */
export const reportFile = async (
  app: Loans,
  {
    name,
    rows,
    funds,
  }: { readonly name: string; readonly rows: Rows<string>; readonly funds?: readonly string[] },
): Promise<ReturnType<typeof textFile>> => {
  const { length } = await leftOutOf(app, funds);
  return textFile(length === 0 ? name : name.replace(/\.\w+$/, `-${length}-in-quarantine$&`), rows);
};
