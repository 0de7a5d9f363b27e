/** Codes that an assistant exchanges for a key, for two minutes. */
export function assistantCodes(kind: 'sqlite' | 'postgres'): string[] {
  const columns = ['id text primary key', 'content text not null', 'expires_at text not null']
  return [`create table assistant_codes (${columns.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`]
}
