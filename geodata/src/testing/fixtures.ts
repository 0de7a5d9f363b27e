/** What tests and benches of other packages make snapshots with. */
export {
  collection,
  compileText,
  feature,
  type GeojsonFeature,
  scratch,
  withStoredLists,
} from '../compile/compile-fixture.ts'
export { writePart } from '../formats/parts/write-part.test-kit.ts'
export { IndexNumbers } from '../snapshot/index-numbers.ts'
export { type DecodedFeature, decodeTile } from '../tiles/archive/test-archive.ts'
