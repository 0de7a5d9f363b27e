/** Ends a switch over a union: a kind that has no case of its own does not compile. */
export function assertNever(value: never): never {
  throw new Error(`There is no case for ${JSON.stringify(value)}.`)
}
