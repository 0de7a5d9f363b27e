import { boolean, choice, integer, text } from './parsers.ts'
import { setting } from './setting.ts'

/** Logs, metrics, checks and stopping. */
export const operationSettings = {
  logLevel: setting(
    'WAYLEAVE_LOG_LEVEL',
    'info' as 'debug' | 'info' | 'warn' | 'error' | 'silent',
    choice('debug', 'info', 'warn', 'error', 'silent'),
    'How much is logged.',
  ),
  logFormat: setting(
    'WAYLEAVE_LOG_FORMAT',
    'auto' as 'auto' | 'json' | 'text',
    choice('auto', 'json', 'text'),
    'How log lines are written: `json` for programs, `text` for people, `auto` for text on a terminal and JSON elsewhere.',
  ),
  accessLog: setting(
    'WAYLEAVE_ACCESS_LOG',
    null as string | null,
    text(),
    'A file to which a line for each request is written in the common log format, beside the log on standard error.',
  ),
  metricsToken: setting(
    'WAYLEAVE_METRICS_TOKEN',
    null as string | null,
    text(),
    'A Bearer token that may read /metrics from beyond loopback.',
    { secret: true },
  ),
  verifyRate: setting(
    'WAYLEAVE_VERIFY_RATE',
    64,
    integer(1, 100_000),
    'Megabytes a second that the background verification of published files reads at most.',
  ),
  socketTransport: setting(
    'WAYLEAVE_SOCKET_TRANSPORT',
    true,
    boolean(),
    'Send pages of features that are ready in memory straight to the socket. Off, every response goes through Fastify: slower, and easier to debug.',
  ),
  allowInternalAddresses: setting(
    'WAYLEAVE_ALLOW_INTERNAL_ADDRESSES',
    false,
    boolean(),
    'Let webhooks and sources of datasets be at addresses inside the network: this machine and private networks. Off by default, so that nobody can reach other services through this one.',
  ),
  drainSeconds: setting(
    'WAYLEAVE_DRAIN_SECONDS',
    1,
    integer(0, 3600),
    'Seconds for which a server that was told to stop by SIGTERM still takes requests, while /ready responds 503, so that a load balancer can send them elsewhere.',
  ),
} as const
