import { addDays, calendarDate, daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

export const NONE = -1;
/** Stands for a payment that is named, and lies beyond what was read. */
export const ELSEWHERE = -2;

const BLOCK_BITS = 12;
const BLOCK = 1 << BLOCK_BITS;
const WITHIN = BLOCK - 1;

type Block = Int32Array | Float64Array;

/** Blocks that never move: a plain array of a million holds twice the memory, three times while it grows. */
export class NumberColumn {
  readonly #make: () => Block;
  readonly #blocks: Block[] = [];
  #count = 0;

  private constructor(make: () => Block) {
    this.#make = make;
  }

  static small(): NumberColumn {
    return new NumberColumn(() => new Int32Array(BLOCK));
  }

  static large(): NumberColumn {
    return new NumberColumn(() => new Float64Array(BLOCK));
  }

  get count(): number {
    return this.#count;
  }

  push(value: number): number {
    const index = this.#count++;
    if ((index & WITHIN) === 0) this.#blocks.push(this.#make());
    this.set(index, value);
    return index;
  }

  set(index: number, value: number): void {
    this.#blocks[index >> BLOCK_BITS]![index & WITHIN] = value;
  }

  at(index: number): number {
    return this.#blocks[index >> BLOCK_BITS]![index & WITHIN]!;
  }
}

/** Names by number: schedules name their installments alike, so there are few. */
export class Names {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) this.#numbers.set(name, (number = this.#names.push(name) - 1));
    return number;
  }

  name(number: number): string {
    return this.#names[number]!;
  }
}

export class NameColumn {
  readonly #names: Names;
  readonly #numbers = NumberColumn.small();

  constructor(names: Names) {
    this.#names = names;
  }

  push(name: string | null): void {
    this.#numbers.push(name === null ? NONE : this.#names.numberOf(name));
  }

  set(index: number, name: string | null): void {
    this.#numbers.set(index, name === null ? NONE : this.#names.numberOf(name));
  }

  at(index: number): string | null {
    const number = this.#numbers.at(index);
    return number === NONE ? null : this.#names.name(number);
  }
}

const EPOCH = calendarDate('1970-01-01');

/** Dates as whole numbers and back. A period has few dates and a million rows, so each is converted once. */
export class DayNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #dates = new Map<number, CalendarDate>();

  of(date: CalendarDate): number {
    let day = this.#numbers.get(date);
    if (day === undefined) this.#numbers.set(date, (day = daysBetween(EPOCH, date)));
    return day;
  }

  date(day: number): CalendarDate {
    let date = this.#dates.get(day);
    if (date === undefined) this.#dates.set(day, (date = addDays(EPOCH, day)));
    return date;
  }
}
