import type { Desk } from '../../application/desk-view/desk.ts';
import { count } from './format.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { inLanguages } from './language.ts';

const texts = inLanguages({
  leftOut: (operations: string, codes: string) => [
    `Nem tudo está aqui: ${operations} em quarentena, como eram antes de um evento que não pôde ser lido (${codes}). Quem opera o serviço vê o motivo com receivables quarantine list.`,
    `Not all is in it: ${operations} in quarantine, as they were before an event that could not be read (${codes}). Who operates the service sees why with receivables quarantine list.`,
  ],
});

const MOST_NAMED = 5;

/** What a list or a report of these funds has to say of itself; default: of all that the person sees. */
export const leftOutView = async ({ loans }: Desk, funds?: readonly string[]): Promise<View> => {
  const all = (await loans.leftOut()).filter(
    ({ fundId }) => !funds || fundId === undefined || funds.includes(fundId),
  );
  if (all.length === 0) return null;
  const named = all.slice(0, MOST_NAMED).map(({ code }) => code);
  const codes = [...named, ...(all.length > named.length ? ['…'] : [])].join(', ');
  return html`<p class="problem" role="note">${texts.leftOut(count(all.length), codes)}</p>`;
};
