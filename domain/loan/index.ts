export { fold, loanDecider } from './decider.ts';
export {
  installmentsOf,
  isReserved,
  openFaceValue,
  openInstallments,
  payoffValue,
  tookPartInRenegotiation,
  totalReceived,
} from './state.ts';
export { isSameDocument } from './add-documents.ts';
export type * from './commands.ts';
export type * from './events.ts';
export type * from './exits.ts';
export type * from './state.ts';
export type * from './statuses.ts';
