import { Kept } from './kept.ts';
import { either, inLanguages } from './language.ts';
import { ConsoleProblem, view } from './page.ts';
import type { ActionAnswer, Answer, Page, Visit } from './page.ts';

const texts = inLanguages({
  gone: [
    'Esta página não é mais guardada. O que foi decidido aparece na operação; para decidir, abra a lista.',
    'This page is not kept any more. What was decided is shown with the operation; to decide, open the list.',
  ],
});

type PageAnswer = Extract<Answer, { kind: 'page' }>;

interface KeptPage {
  readonly show: (visit: Visit) => PageAnswer;
  /** The one that it belongs to. */
  readonly of: Page;
}

const MOST = 64;
const pages = new Kept<KeptPage>(MOST);

/**
 * The answer to a posted form: the browser is sent to what is shown, drawn for each visit, so that going back, loading again and
 * changing the language send no form a second time.
 */
export const keptPage = (visit: Visit, show: KeptPage['show']): ActionAnswer => ({
  kind: 'redirect',
  to: `/kept/${pages.keep(visit, { show, of: visit.page })}`,
});

export const keptPages: Page = {
  path: '/kept',
  title: () => either('Resultado', 'Result'),
  hidden: true,
  routes: [
    view('/kept/:id', async (visit) => {
      const found = pages.find(visit, visit.params['id']!);
      if (found === undefined) throw new ConsoleProblem(404, () => texts.gone);
      return { ...found.show(visit), of: found.of };
    }),
  ],
};
