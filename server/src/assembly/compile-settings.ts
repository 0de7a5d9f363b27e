import type { CompileOptions } from '@wayleave/geodata/compile'
import type { Config } from '../base/settings/config.ts'

/** What the settings say about reading files. */
export function compileSettings(config: Config): Required<Pick<CompileOptions, 'limits' | 'gdal'>> {
  return {
    gdal: {
      program: config.gdal === 'off' ? null : config.gdal,
      seconds: config.gdalSeconds,
      megabytes: config.gdalMegabytes,
    },
    limits: {
      rows: config.maxRows,
      columns: config.maxColumns,
      depth: config.maxNesting,
      compressionRatio: config.maxExpansion,
      decompressedBytes: config.maxUploadBytes,
      rowBytes: config.maxFeatureBytes,
      seconds: config.publishSeconds,
      stalledSeconds: config.readSeconds,
      minFreeBytes: config.minFreeBytes,
    },
  }
}
