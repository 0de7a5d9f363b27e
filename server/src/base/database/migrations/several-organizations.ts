/**
 * A user may be a member of several organizations. Nodes of the version before know one, whose row stays in `members`,
 * where `user_id` is unique; the others are in `further_members`.
 */
export function severalOrganizations(kind: 'sqlite' | 'postgres'): string[] {
  const strict = kind === 'sqlite' ? ' strict' : ''
  const furtherMembers = [
    'user_id text not null references users (id) on delete cascade',
    'organization_id text not null references organizations (id) on delete cascade',
    'permissions text not null',
    'joined_at text not null',
    'primary key (user_id, organization_id)',
  ]
  return [
    `create table further_members (${furtherMembers.join(', ')})${strict}`,
    'create index further_members_organization on further_members (organization_id)',
    'alter table refresh_tokens add column organization_id text',
    'alter table users add column current_organization_id text',
    // What a user has bought in the console is free again only in the organization that paid.
    `insert into purchases (payer, table_name, version, format, paid_at, ledger_id)
      select payer || '@' || organization_id, table_name, version, format, paid_at, ledger_id
      from purchases join members on payer = 'user:' || user_id`,
  ]
}

/** Who a user is at the provider of single sign-on. */
export function signOnIdentities(kind: 'sqlite' | 'postgres'): string[] {
  const columns = [
    'issuer text not null',
    'subject text not null',
    'user_id text not null references users (id) on delete cascade',
    'created_at text not null',
    'primary key (issuer, subject)',
    'unique (user_id, issuer)',
  ]
  return [`create table sign_on_identities (${columns.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`]
}
