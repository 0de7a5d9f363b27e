/** The entry of the thread that renders the API reference: see `RenderedTexts`. */
import { performRequests } from '@wayleave/geodata/base'
import type { About } from '../../http/about.ts'
import { Reference } from './reference.ts'

export interface ReferenceRequest {
  about: About
  /** The two definitions as JSON: copying a text takes less time than copying its objects. */
  own: string
  ogc: string
  ogcRoot: string
  /** The name of a group, or empty for the overview. */
  group: string
}

performRequests(
  ({ about, own, ogc, ogcRoot, group }: ReferenceRequest) => {
    const definitions = { own: JSON.parse(own), ogc: JSON.parse(ogc), ogcRoot }
    return new Reference(about, definitions).page(group) ?? ''
  },
  () => [],
)
