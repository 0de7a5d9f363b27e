/** The program that a key was given to, so that signing in again replaces its key. */
export function assistantKeys(): string[] {
  return ['alter table api_keys add column assistant text']
}
