/** Addresses that datasets are refreshed from, and what came of it. */
export function sourceTables(kind: 'sqlite' | 'postgres'): string[] {
  const big = kind === 'sqlite' ? 'integer' : 'bigint'
  const end = kind === 'sqlite' ? ') strict' : ')'
  const sources = [
    'table_name text primary key',
    'owner_id text references organizations (id) on delete cascade',
    'kind text not null',
    'address text not null',
    'credentials text',
    'options text not null',
    'schedule text',
    'next_run_at text',
    'validators text',
    'failures integer not null default 0',
    'created_by text not null',
    'created_at text not null',
    'updated_at text not null',
  ]
  const runs = [
    'id text primary key',
    'table_name text not null',
    'started_at text not null',
    'ended_at text not null',
    'outcome text not null',
    'is_manual integer not null',
    `version ${big}`,
    `rows ${big}`,
    `bytes ${big}`,
    'problem text',
  ]
  return [
    `create table sources (${sources.join(', ')}${end}`,
    `create table source_runs (${runs.join(', ')}${end}`,
    'create index sources_next_run on sources (next_run_at)',
    'create index source_runs_table on source_runs (table_name, started_at)',
    'create index source_runs_ended on source_runs (ended_at)',
  ]
}
