import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { bareDocument, isDocument } from '../../../../application/privacy/forget-borrower.ts';
import { isCalendarDate } from '../../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { STATES } from '../../names.ts';
import type { InLanguages } from '../../language.ts';
import { ConsoleProblem } from '../../page.ts';
import type { Visit } from '../../page.ts';
import { OPERATIONS } from './texts.ts';

/** What a person asked for. */
export interface Search {
  /** What the code begins with. */
  readonly code?: string;
  /** CPF or CNPJ, without punctuation. */
  readonly document?: string;
  readonly fundId?: string;
  readonly status?: string;
  /** Received on this day or later. */
  readonly from?: CalendarDate;
  /** Received on this day or before. */
  readonly to?: CalendarDate;
}

const refused = (which: 'badCode' | 'badDocument' | 'badFund' | 'badDates'): ConsoleProblem => {
  const texts: InLanguages<string> = { 'pt-BR': OPERATIONS['pt-BR'][which], en: OPERATIONS.en[which] };
  return new ConsoleProblem(422, texts);
};

const given = <Name extends keyof Search>(name: Name, value: string): Pick<Search, Name> | undefined =>
  value === '' ? undefined : ({ [name]: value } as unknown as Pick<Search, Name>);

/** @throws ConsoleProblem saying which field cannot be searched for, and why */
export const searchOf = ({ fields }: Pick<Visit, 'fields'>): Search => {
  const field = (name: string): string => fields.get(name)?.trim() ?? '';
  const [code, fundId, status] = [field('code'), field('fund').toLowerCase(), field('status')];
  const document = bareDocument(field('document'));
  const [from, to] = [field('from'), field('to')];
  if (!/^[\x21-\x7e]{0,100}$/.test(code)) throw refused('badCode');
  if (document !== '' && !isDocument(document)) throw refused('badDocument');
  if (fundId !== '' && !/^[0-9a-f-]{36}$/.test(fundId)) throw refused('badFund');
  if (![from, to].every((day) => day === '' || isCalendarDate(day)) || (to !== '' && to < from))
    throw refused('badDates');
  return {
    ...given('code', code),
    ...given('document', document),
    ...given('fundId', fundId),
    ...given('status', STATES.includes(status) ? status : ''),
    ...given('from', from),
    ...given('to', to),
  };
};

const MOST = 256;
const KEPT_MS = 12 * 3_600_000;

/**
 * Searches stay here, in memory, and an address holds only the number of one: what was typed about a borrower stands in no address,
 * and yet a page can be loaded again, gone back to, and followed by the next.
 */
export class Searches {
  readonly #kept = new LRUCache<string, Search>({ max: MOST, ttl: KEPT_MS });

  /** Its number, which means nothing to another session. */
  keep({ formToken }: Pick<Visit, 'formToken'>, search: Search): string {
    const id = randomUUID();
    this.#kept.set(`${formToken} ${id}`, search);
    return id;
  }

  find({ formToken }: Pick<Visit, 'formToken'>, id: string): Search | undefined {
    return this.#kept.get(`${formToken} ${id}`);
  }
}
