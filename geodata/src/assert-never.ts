/** Makes a switch over a union exhaustive: a missing case is a compile error. */
export function assertNever(value: never): never {
  throw new Error(`There is no case for ${JSON.stringify(value)}.`)
}
