/**
 * The rules of one aggregate as three functions. `decide` answers the events that a command causes: none when it is already
 * done, and throws `DomainError` when it is refused. `evolve` is total and pure: an event that does not fit leaves the state.
 */
export interface Decider<State, Command, Event> {
  readonly initialState: State;
  decide(command: Command, state: State): readonly Event[];
  evolve(state: State, event: Event): State;
}
