import type { JobKind } from '@wayleave/contract/job-states'
import type { KeyScope } from '@wayleave/contract/permissions'
import type { Generated } from 'kysely'
import type { BillingTables } from './billing-schema.ts'

/**
 * The control database, the same on SQLite and PostgreSQL. Times are ISO 8601 UTC text with milliseconds, so
 * that they sort and compare as text; lists and objects are JSON text; ids are text that we generate.
 */
export interface Tables extends BillingTables {
  migrations: { number: number; name: string; applied_at: string }

  users: {
    id: string
    email: string
    created_at: string
    last_sign_in_at: string | null
    /** A blocked user cannot sign in, and their personal keys are refused. */
    blocked_at: string | null
    block_reason: string | null
    /** The organization that new sessions begin in: the one that the user joined or switched to last. */
    current_organization_id: string | null
  }
  /** Who a user is at the provider of single sign-on. */
  sign_on_identities: { issuer: string; subject: string; user_id: string; created_at: string }
  sign_in_links: {
    id: string
    email: string
    token_hash: string
    code_hash: string
    /** The hash of the value that the request for the mail returned; null on links of earlier versions. */
    request_hash: string | null
    /** 1 if the code works only together with that value. */
    bound: number
    wrong_codes: number
    created_at: string
    expires_at: string
    used_at: string | null
  }
  wrong_codes: { id: Generated<number>; email: string; at: string }
  refresh_tokens: {
    token_hash: string
    family_id: string
    user_id: string
    /** The organization that the session acts for; null if the user had none, or a node of 0.1 created the row. */
    organization_id: string | null
    created_at: string
    expires_at: string
    replaced_at: string | null
  }
  signing_keys: {
    kid: string
    /** Empty once the key is retired: it is never used for signing again. */
    private_jwk: string
    public_jwk: string
    created_at: string
    retired_at: string | null
  }
  /** Random values of the installation, such as the one used to derive the next refresh token. */
  installation_secrets: { name: string; value: string }

  /** Networks (CIDR) whose requests are refused. */
  address_blocks: {
    id: string
    network: string
    reason: string
    /** The actor, as in events. */
    created_by: string
    created_at: string
    expires_at: string | null
  }

  organizations: {
    id: string
    name: string
    credits: number
    created_at: string
    /** The keys of a suspended organization are refused. */
    suspended_at: string | null
    suspend_reason: string | null
    /** A closed organization has no members and no working keys; its ledger is kept. */
    closed_at: string | null
    /** 1 if the operator allows it to publish datasets. */
    publishing: Generated<number>
  }
  /** What members ask the operator for. */
  access_requests: {
    id: string
    organization_id: string
    user_id: string
    add_ons: string
    credits: number
    message: string
    state: 'open' | 'granted' | 'declined'
    /** What the operator said when they decided. */
    note: string
    created_at: string
    decided_at: string | null
    /** The actor, as in events. */
    decided_by: string | null
  }
  add_ons: { organization_id: string; add_on: string; granted_at: string }
  /** One membership of each user; nodes of 0.1 know no others. Read by `accounts/access/membership-store.ts` only. */
  members: { user_id: string; organization_id: string; permissions: string; joined_at: string }
  /** The other memberships of users who are in several organizations. */
  further_members: { user_id: string; organization_id: string; permissions: string; joined_at: string }
  invitations: {
    id: string
    organization_id: string
    email: string
    permissions: string
    token_hash: string
    invited_by: string
    created_at: string
    expires_at: string
    accepted_at: string | null
  }

  api_keys: {
    id: string
    name: string
    scope: KeyScope
    permissions: string
    prefix: string
    secret_hash: string
    /** The console's own short-lived keys are 'session': they are neither listed nor counted. */
    kind: 'key' | 'session'
    /** The session that a session key was created in; the key becomes invalid when the session ends. */
    session_id: string | null
    organization_id: string | null
    user_id: string | null
    /** The key's own rate limit; null means that of the settings. */
    rate: number | null
    burst: number | null
    expires_at: string | null
    created_at: string
    rotated_at: string | null
    revoked_at: string | null
    /** The last use of the current secret. */
    last_used_at: string | null
    /** Origins of web pages that may use the key, as a JSON array; null: any caller. */
    allowed_origins: string | null
    /** Networks that may use the key, as a JSON array; null: any address. */
    allowed_addresses: string | null
    /** The secret before the last rotation, if that had an overlap; it works until `previous_ends_at`. */
    previous_secret_hash: string | null
    previous_prefix: string | null
    previous_ends_at: string | null
    previous_last_used_at: string | null
    /** 1 for a key that gets samples only. */
    test: Generated<number>
    /** Credits that the key may spend in a month (UTC); null: no limit. */
    credit_limit: number | null
    /** A hash of the program that the user gave the key to by signing in; null for other keys. */
    assistant: string | null
  }

  /** Codes that an assistant exchanges for a key, for two minutes. */
  assistant_codes: {
    /** A hash of the code. */
    id: string
    /** What the user agreed to, and with which client, as JSON. */
    content: string
    expires_at: string
  }

  /** Requests with an `Idempotency-Key` of the last 24 hours. */
  idempotency_keys: {
    /** A hash of the caller and the key. */
    id: string
    /** A hash of method, path and body. */
    content_hash: string
    /** Names the attempt that may carry out the request. */
    token: string
    /** After this time another attempt may take over. */
    lease_until: string
    /** What the request changed, as in events; written in the transaction of the change. Null: nothing yet. */
    carried_out: string | null
    /** The encrypted response; null until there is one. */
    response: string | null
    created_at: string
  }

  /** Hashes of secrets that were revoked, rotated or deleted: a restored backup must not revive them. */
  revoked_secrets: { secret_hash: string; key_id: string; at: string }

  /** What caches must evict, numbered in commit order: every writer locks the row of `change_number`. */
  changes: { number: number; subject: string; subject_id: string; at: string; token: string }
  /** The newest change: its number, and the random token of its rows. */
  change_number: { only: number; number: number; token: string }
  /** `token` belongs to the change `acknowledged`; null on nodes running a version without tokens. */
  nodes: {
    id: string
    lease_until: string
    acknowledged: number
    token: string | null
    /** The kinds of jobs that the node runs, separated by commas; null if it runs none. */
    job_kinds: string | null
  }
  /** When the installation was last known to run, and a counter that is written to prove that writes work. */
  heartbeat: { only: number; seen_at: string | null; probes: number }

  usage: {
    key_id: string
    organization_id: string | null
    date: string
    operation: string
    table_name: string
    format: string
    calls: number
    credits: number
  }
  /** Makes usage batches idempotent: a batch is added once, however often its commit is retried. */
  usage_batches: { id: string; at: string }

  ledger: {
    id: Generated<number>
    organization_id: string
    at: string
    /** Positive: credits granted or refunded. Negative: credits spent. */
    amount: number
    balance: number
    kind: 'grant' | 'correction' | 'download' | 'refund' | 'purchase' | 'reversal' | 'lapse'
    key_id: string | null
    table_name: string | null
    version: number | null
    format: string | null
    actor: string | null
    /** The ledger row that a refund reverses. */
    refunds: number | null
    /** The order that brought the credits or took them back; for a lapse, the order of the period's credits. */
    order_id: string | null
    /** What was paid for the order, or with a minus returned, in minor units of its currency; null without an order. */
    money: number | null
  }
  /** The right to download one format of one version again for 24 hours. */
  purchases: {
    payer: string
    table_name: string
    version: number
    format: string
    paid_at: string
    ledger_id: number | null
  }

  datasets: {
    table_name: string
    title: string
    description: string
    license: string
    attribution: string
    contact: string
    citation: string
    update_frequency: string
    keywords: string
    /** What the publisher says about columns, in JSON by column name. */
    column_notes: string
    credits: number
    current_version: number
    created_at: string
    updated_at: string
    visibility: string
    /** The organization that publishes it; null for the operator. */
    owner_id: string | null
    /** What a file of filtered rows costs: `share`, `free`, `whole`; null for that of the settings. */
    extract_price: string | null
    /** What the publisher fixed about its columns, in JSON; null if nothing. */
    publishing_schema: string | null
  }
  /** The rights of organizations to single datasets, beyond their add-ons. */
  dataset_grants: {
    id: string
    table_name: string
    organization_id: string
    /** A JSON array of what the grant is limited to; null for everything. */
    access: string | null
    /** The price of one download; null for that of the dataset. */
    credits: number | null
    expires_at: string | null
    created_by: string
    created_at: string
  }
  versions: {
    table_name: string
    version: number
    /** The name of the snapshot's folder. Unique, so that a version that reuses a snapshot has a name that no folder has. */
    snapshot: string
    /** The snapshot of an earlier version that this one reuses; null if it has its own. */
    reused_snapshot: string | null
    /** What the release of a draft will change, in JSON; null for versions that are released. */
    draft: string | null
    created_at: string
    rows: number
    /** The snapshot's manifest, so that metadata can be served without reading a file. */
    manifest: string
    /** The part of the manifest that lists need; null if a program stored the version that knows none. */
    summary: string | null
    has_sample: number
    note: string
    /** JSON of the differences from the version before, or of null; empty if it is still to be compared. */
    changes: string
  }
  /** The addresses that datasets are refreshed from. */
  sources: {
    table_name: string
    /** The organization that publishes the dataset; null for the operator. */
    owner_id: string | null
    kind: string
    /** Without credentials. */
    address: string
    /** Encrypted JSON. */
    credentials: string | null
    /** JSON of how it is read. */
    options: string
    /** An interval or a cron expression; null if it is only run by hand. */
    schedule: string | null
    next_run_at: string | null
    /** JSON of what is known of the content that was published last. */
    validators: string | null
    /** How many runs have failed since the last success. */
    failures: number
    created_by: string
    created_at: string
    updated_at: string
  }
  source_runs: {
    id: string
    table_name: string
    started_at: string
    ended_at: string
    outcome: 'published' | 'unchanged' | 'failed'
    is_manual: number
    version: number | null
    rows: number | null
    bytes: number | null
    problem: string | null
  }
  /** The highest version number ever assigned to a table name: numbers are not reused after `unpublish`. */
  version_numbers: { table_name: string; last_version: number }
  jobs: {
    id: string
    kind: JobKind
    table_name: string
    state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
    progress: string | null
    report: string | null
    problem: string | null
    version: number | null
    actor: string
    /** The organization that publishes; null for the operator. */
    owner_id: string | null
    /** The node that runs the job, ran it last, or created it. */
    node_id: string
    /** What to do, as JSON: enough for any worker to start, also after a crash. */
    request: string | null
    /** Jobs of one queue run one at a time, the oldest first. */
    queue: string
    /** Jobs with a higher priority are claimed first. */
    priority: number
    /** Only one job with this key can be waiting or running. Null if there can be several. */
    single_key: string | null
    /** Attempts that began and were not interrupted by a stop or by an outage. */
    attempts: number
    /** Attempts that ended because something that the job needs was unavailable, such as the database. */
    retries: number
    /** The job is not claimed before this time. */
    run_after: string | null
    /** Random, new for each attempt: only the attempt that holds it may change the job (fencing token). */
    lease_token: string | null
    /** After this time, by the database's clock, another worker may take the job. */
    lease_until: string | null
    created_at: string
    updated_at: string
  }

  events: {
    id: Generated<number>
    at: string
    organization_id: string | null
    /** The actor: `user:<id>`, `key:<id>`, `operator` (the command line) or `system`. */
    actor: string
    action: string
    subject: string
    detail: string
    address: string | null
    request_id: string | null
  }

  /** Receivers of messages. Secrets are encrypted if WAYLEAVE_SECRET_KEY is set. */
  webhooks: {
    id: string
    /** Null for a webhook of the platform, which is told of all organizations. */
    organization_id: string | null
    url: string
    /** A JSON array of event types. */
    events: string
    description: string
    secret: string
    /** The secret before the last rotation; it signs too until `previous_ends_at`. */
    previous_secret: string | null
    previous_ends_at: string | null
    created_at: string
    /** The first failed attempt since the last success. */
    failing_since: string | null
    paused_at: string | null
    /** Why the service paused it; null if a member did. */
    pause_reason: string | null
    /** The process that sends its messages now; by the database's clock. */
    lease_token: string | null
    lease_until: string | null
  }
  /** The outbox of webhooks, written in the transaction of the change, and the log of deliveries. */
  webhook_deliveries: {
    /** The `webhook-id`. */
    id: string
    webhook_id: string
    type: string
    payload: string
    state: 'waiting' | 'delivered' | 'failed'
    /** A JSON array of the last attempts. */
    attempts: string
    /** The number of failed attempts since it was queued; decides the time of the next one. */
    failures: number
    next_at: string | null
    created_at: string
  }

  /** The outbox of notices by mail. */
  notices: {
    id: string
    notice: string
    organization_id: string | null
    /** What the mail says, as JSON. */
    detail: string
    created_at: string
    /** No process sends it before this time; by the database's clock. */
    lease_until: string | null
  }
  /** Notices that an address switched off. */
  notice_switches: { email: string; notice: string; at: string }
  /** What was told already, so that it is told once. */
  notice_marks: { id: string; at: string }
  /** When an organization is told about its credits. */
  credit_levels: {
    organization_id: string
    /** Null: not at all. */
    low_limit: number | null
    /** Null while there are credits. */
    exhausted_at: string | null
  }

  /** Requests of the last days, by key. */
  request_log: {
    id: Generated<number>
    key_id: string
    at: string
    operation: string
    table_name: string
    status: number
    milliseconds: number
    bytes: number | null
    credits: number
    /** How many requests the row stands for. */
    weight: number
  }
}
