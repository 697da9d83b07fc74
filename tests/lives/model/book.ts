import type { Credit, Number70, Owed } from './curve.ts';

/** Who borrows; the numbers have right check digits. */
export interface Person {
  readonly document: string;
  readonly kind: 'CPF' | 'CNPJ';
  readonly name: string;
}

export interface Paper {
  readonly type: string;
  readonly value: string;
  readonly sha256: string;
  readonly size: number;
  readonly receivedAt: string;
}

export interface Part {
  readonly code: string;
  readonly due: string;
  readonly face: number;
  status: 'pending' | 'overdue' | 'settled' | 'prepaid' | null;
  credits: readonly Credit[];
  paid?: { readonly at: string; readonly value: number; readonly method: string };
}

export interface Terms {
  readonly originals: readonly string[];
  readonly next: string;
  readonly effective: string;
}

/** An event as receivers see it. */
interface Told {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly flat?: Readonly<Record<string, unknown>>;
}

/** Everything that there is to know of one operation. Amounts in cents. */
export interface Book {
  readonly code: string;
  readonly fund: string;
  readonly product: string;
  readonly price: number;
  readonly issued: string;
  readonly v: Number70;
  readonly person: Person;
  readonly receivedAt: string;
  readonly parts: readonly Part[];
  papers: readonly Paper[];
  status: string;
  history: readonly { readonly status: string; readonly at: string }[];
  received: number;
  forgotten: boolean;
  paidOut?: { readonly value: number; readonly date: string; readonly exitBasis: number };
  rejection?: readonly { readonly code: string; readonly message: string }[];
  repurchase?: {
    readonly reason: string;
    readonly detail?: string;
    readonly effective: string;
    readonly value: number;
    readonly calculated: number;
    readonly at: string;
    completedAt: string | null;
  };
  prepayments: readonly {
    readonly value: number;
    readonly date: string;
    readonly codes: readonly string[];
    readonly excess: number;
  }[];
  renegotiation?: { readonly role: 'original' | 'new'; readonly terms: Terms; completedAt: string | null };
  told: readonly Told[];
}

export const isOpen = ({ status }: Part): boolean => status !== 'settled' && status !== 'prepaid';
export const openParts = ({ parts }: Book): readonly Owed[] => parts.filter(isOpen);

export const enter = (book: Book, status: string, at: string): void => {
  book.status = status;
  book.history = [...book.history, { status, at }];
};

export const tell = (book: Book, name: string, data: Told['data'], flat?: Told['flat']): void => {
  book.told = [...book.told, { name, data, ...(flat && { flat }) }];
};

/** As JSON carries it. */
export const money = (cents: number): number => Math.round(cents) / 100;
