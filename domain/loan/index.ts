export { fold, loanDecider } from './decider.ts';
export type * from './commands.ts';
export type * from './events.ts';
export type * from './exits.ts';
export type * from './state.ts';
export type * from './statuses.ts';
