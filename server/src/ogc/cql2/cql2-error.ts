/** What is wrong with a filter, in one sentence for its author that says where. */
export class Cql2Error extends Error {
  override name = 'Cql2Error'
}
