import { operatorOf } from '../../../../application/command-handling/actors.ts';
import type { StatusChange } from '../../../../application/administrator/changed-meanwhile.ts';
import { instant } from '../../format.ts';
import { statusName } from '../../names.ts';
import { texts } from './texts.ts';

/** What became of an operation since the form was made, and by whom. */
export const changedText = ({
  status,
  changes,
}: {
  readonly status: string;
  readonly changes: readonly StatusChange[];
}): string => {
  const told = changes.map(({ status: after, actor, at }) => {
    const by = operatorOf(actor) ?? (actor === 'administrator' ? texts.administrator : actor);
    return texts.change(statusName(after), by, instant(at));
  });
  return texts.changedMeanwhile(statusName(status), told.join('; '));
};
