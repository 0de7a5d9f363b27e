/** What tests and benches of other packages make snapshots with. */
export { collection, compileText, feature, type GeojsonFeature, scratch } from '../compile/compile-fixture.ts'
export { writePart } from '../formats/parts/write-part.test-kit.ts'
export { type DecodedFeature, decodeTile } from '../tiles/archive/test-archive.ts'
