/**
 * The rules of one aggregate as three functions. `decide` answers the events that a command causes: none when it is already
 * done, and throws `DomainError` when it is refused. `evolve` is total and pure: an event that does not fit leaves the state.
 */
export interface Decider<State, Command, Event> {
  readonly initialState: State;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: Event): State;
}

/** What these events make of the state before them; by default of that before the first. */
export const stateAfter = <State, Event>(
  decider: Decider<State, never, Event>,
  events: readonly Event[],
  before = decider.initialState,
): State => events.reduce((state, event) => decider.evolve(state, event), before);
