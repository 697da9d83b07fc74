import { CSV_DIALECTS } from '../presenting/csv.ts';
import type { CsvDialect } from '../presenting/csv.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { inLanguages } from './language.ts';
import { tokenField } from './forms.ts';
import type { Visit } from './page.ts';

/** Plain for anything that is none. */
export const dialectOf = (text: string | null | undefined): CsvDialect =>
  CSV_DIALECTS.find((one) => one === text) ?? 'plain';

/** How every CSV of the console is written. */
export const csvFor = ({ csv: dialect }: Pick<Visit, 'csv'>) =>
  ({ format: 'csv', colour: false, dialect }) as const;

const texts = inLanguages({
  name: ['CSV para o Excel em português', 'CSV for Excel in Portuguese'],
  help: [
    'Ponto e vírgula entre as colunas, vírgula decimal e situações em português. Vale para todos os arquivos e fica guardado neste navegador.',
    'Semicolons between columns, a decimal comma, and states in Portuguese. Counts for every file, and this browser keeps it.',
  ],
});

/** The switch beside what is exported. */
export const csvChoice = (visit: Pick<Visit, 'csv' | 'formToken'>): View => {
  const on = visit.csv === 'brazilian';
  return html`<form method="post" action="/session/csv" class="inline">
    ${tokenField(visit)}
    <button
      class="secondary small"
      name="csv"
      value=${on ? 'plain' : 'brazilian'}
      aria-pressed=${on ? 'true' : 'false'}
      title=${texts.help}
    >
      ${on ? '✓ ' : ''}${texts.name}
    </button>
  </form>`;
};
