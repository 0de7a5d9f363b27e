/** An error in a filter: one sentence for the filter's author that includes the location. */
export class Cql2Error extends Error {
  override name = 'Cql2Error'
}

/** The filter is valid, but evaluating it would cost too much. */
export class FilterCostError extends Cql2Error {}
