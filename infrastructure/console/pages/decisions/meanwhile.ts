import { operatorOf } from '../../../../application/command-handling/actors.ts';
import type { StatusChange } from '../../../../application/administrator/changed-meanwhile.ts';
import { instant } from '../../format.ts';
import type { Language } from '../../language.ts';
import { statusName } from '../../names.ts';
import { DECISIONS } from './texts.ts';

/** What became of an operation since the form was made, and by whom. */
export const changedText = (
  { status, changes }: { readonly status: string; readonly changes: readonly StatusChange[] },
  language: Language,
): string => {
  const texts = DECISIONS[language];
  const told = changes.map(({ status: after, actor, at }) => {
    const by = operatorOf(actor) ?? (actor === 'administrator' ? texts.administrator : actor);
    return texts.change(statusName(after, language), by, instant(at));
  });
  return texts.changedMeanwhile(statusName(status, language), told.join('; '));
};
