export {
  addItemsSource,
  type ItemsMap,
  type ItemsSource,
  type ItemsSourceOptions,
  type ItemsView,
} from './add-items-source.ts'
export type { Aggregate, AggregateOptions } from './aggregate.ts'
export type { Call, WithResponse } from './call.ts'
export type { Change, ChangesOptions } from './changes.ts'
export type {
  Archive,
  Column,
  Dataset,
  ExportFormat,
  FieldError,
  Format,
  ProblemBody,
  VersionChanges,
} from './contract.ts'
export type { DeliveryOptions, Progress } from './deliver.ts'
export {
  APIStatusError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PaymentRequiredError,
  PermissionDeniedError,
  type Problem,
  PublishError,
  RateLimitError,
  type RowProblem,
  ServerError,
  TimeoutError,
  WayleaveError,
} from './errors.ts'
export type { Feature, Geometry, Position } from './feature.ts'
export type { Items, ItemsOptions, ItemsPage } from './items.ts'
export type { MapRequest } from './map-request.ts'
export type {
  InspectOptions,
  PublishOptions,
  PublishProgress,
  ReadingOptions,
} from './publish-options.ts'
export type {
  DatasetSource,
  Inspection,
  Job,
  PublishedFile,
  PublishedJob,
  Publisher,
  SourceOptions,
} from './publisher.ts'
export type { Credits, RateLimit, ResponseInfo } from './response-info.ts'
export type { Row } from './row.ts'
export type { WayleaveOptions } from './settings.ts'
export type { NodeWritable } from './stream-sink.ts'
export type { TileSource, TilesOptions } from './tile-source.ts'
export type { ApiKey, CallOptions } from './transport.ts'
export { type DownloadFormat, type DownloadResult, Wayleave } from './wayleave.ts'
