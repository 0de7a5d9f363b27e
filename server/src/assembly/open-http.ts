import { isFirst } from '../base/threads/thread-place.ts'
import { BaseUrl } from '../http/base-url.ts'
import { TrustedProxies } from '../http/caller.ts'
import { AccessLog } from '../http/observability/access-log.ts'
import { Metrics } from '../http/observability/metrics.ts'
import { Overload } from '../http/observability/overload.ts'
import type { Closers } from './closers.ts'
import type { Opening } from './opening.ts'

/** What holds for every request. */
export interface HttpParts {
  baseUrl: BaseUrl
  metrics: Metrics
  /** Null without WAYLEAVE_ACCESS_LOG. */
  accessLog: AccessLog | null
  overload: Overload
  proxies: TrustedProxies
}

export function openHttp({ config, serving, thread }: Opening, opened: Closers): HttpParts {
  return {
    baseUrl: new BaseUrl(config.baseUrl, config.trustedProxies.length > 0),
    metrics: new Metrics(isFirst(thread)),
    accessLog: config.accessLog && serving ? opened.use(new AccessLog(config.accessLog)) : null,
    overload: new Overload(config.maxEventLoopDelay),
    proxies: new TrustedProxies(config.trustedProxies),
  }
}
