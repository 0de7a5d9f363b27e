import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Logger } from 'pino'
import { redactSecrets } from '../redact.ts'
import { version } from '../version.ts'
import type { RequestOutcome, RequestTrace, SpanAttributes, Tracing } from './tracing.ts'

export interface OpenTelemetry {
  tracing: Tracing
  /** Sends what is buffered, and stops. */
  close(): Promise<void>
}

/**
 * Traces that are sent by OTLP over HTTP. The library reads the `OTEL_…` variables: where to, which traces are sampled,
 * how large batches are.
 */
export function openTelemetry(log: Logger): OpenTelemetry {
  const warn = (message: string, ...details: unknown[]) => log.warn({ details }, `Traces: ${message}`)
  const ignore = () => {}
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const own = resourceFromAttributes({ 'service.name': 'wayleave', 'service.version': version })
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  return {
    tracing: new OpenTelemetryTracing(provider.getTracer('wayleave', version)),
    close: () => provider.shutdown(),
  }
}

class OpenTelemetryTracing implements Tracing {
  readonly #tracer: Tracer
  /** The span that work belongs to, across promises and callbacks. */
  readonly #current = new AsyncLocalStorage<Context>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  span<T>(name: string, attributes: SpanAttributes, work: () => T): T {
    const parent = this.#current.getStore() ?? ROOT_CONTEXT
    const span = this.#tracer.startSpan(name, { attributes }, parent)
    return endAfter(span, () => this.#current.run(trace.setSpan(parent, span), work))
  }

  request(request: IncomingMessage, parent: string | undefined): RequestTrace {
    const { method = '', url = '' } = request
    const path = redactSecrets(url.split('?', 1)[0]!)
    const span = this.#tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'url.path': path } },
      remoteContext(parent),
    )
    const context = trace.setSpan(ROOT_CONTEXT, span)
    let sending: Span | undefined
    return {
      run: (work) => this.#current.run(context, work),
      sending: () => {
        sending ??= this.#tracer.startSpan('send', {}, context)
      },
      end: (outcome) => {
        sending?.end()
        endRequest(span, method, outcome)
      },
    }
  }
}

function endRequest(span: Span, method: string, { id, route, status, keyId }: RequestOutcome): void {
  span.updateName(`${method} ${route}`)
  span.setAttributes({ 'http.route': route, 'http.response.status_code': status, 'wayleave.request_id': id })
  if (keyId !== undefined) span.setAttribute('wayleave.key_id', keyId)
  // By OpenTelemetry's conventions only errors of the server are errors of its span.
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

function endAfter<T>(span: Span, work: () => T): T {
  const fail = (error: unknown) => {
    // Only the name: messages may contain what a client sent.
    span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name })
    span.end()
  }
  try {
    const result = work()
    if (result instanceof Promise) {
      result.then(() => span.end(), fail)
    } else span.end()
    return result
  } catch (error) {
    fail(error)
    throw error
  }
}

/** The context of a `traceparent` header; an empty one if there is none or it is malformed. */
function remoteContext(parent: string | undefined): Context {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(parent ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags!, 16) & 1
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}
