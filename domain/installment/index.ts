export { becomeOverdue, outstandingAtDue, settle } from './decide.ts';
export type { Settlement } from './decide.ts';
export { carryCredit, evolveInstallment, isOpen, payOff, pendingInstallment } from './state.ts';
