import type { MapLook } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'

export function isNumeric(type: string): boolean {
  return type === 'number' || type === 'integer'
}

/** The columns by which the map can be colored: numbers, and texts and booleans whose values repeat. */
export function colorColumns(dataset: DatasetDetails): string[] {
  return dataset.columns
    .filter(({ name, type }) => {
      const { distinct = 0, frequent = [] } = dataset.statistics?.[name] ?? {}
      if (isNumeric(type)) return distinct > 1 && canBeSummed(dataset, name)
      return (type === 'text' || type === 'boolean') && frequent.length > 1
    })
    .map(({ name }) => name)
}

/** Whether a map of the dataset may have points, and so circles that stand for several features. */
export function hasPoints({ geometryTypes }: Pick<DatasetDetails, 'geometryTypes'>): boolean {
  return geometryTypes.some((type) => type.endsWith('Point'))
}

/** The columns whose mean hexagons can show. */
export function numberColumns(dataset: DatasetDetails): string[] {
  const isNumber = (name: string) =>
    dataset.columns.some((column) => column.name === name && isNumeric(column.type))
  return colorColumns(dataset).filter(isNumber)
}

/** The columns by which points can be sized. */
export function sizeColumns(dataset: DatasetDetails): string[] {
  return hasPoints(dataset) ? numberColumns(dataset) : []
}

/**
 * Whether tiles can sum up a column where a point stands for several features: the service then holds it in columns,
 * and its statistics are exact. Integers that JavaScript cannot hold have no `min` here, and may be held as texts.
 */
export function canBeSummed({ statistics, columns }: DatasetDetails, name: string): boolean {
  const type = columns.find((column) => column.name === name)?.type
  const own = statistics?.[name]
  if (type === undefined || !own?.isExact) return false
  return !isNumeric(type) || own.distinct === 0 || own.min !== undefined
}

/**
 * The columns whose values are asked for with the tiles, for circles that stand for several features: all of those that
 * give colors and sizes, or none if one cannot be summed up. Lines and areas have their values in the stored tiles.
 */
export function summedColumns(dataset: DatasetDetails, { color, size, draw }: MapLook): string[] {
  if (draw !== 'features' || !hasPoints(dataset)) return []
  const names = [...new Set([color, size].filter((name) => dataset.columns.some((one) => one.name === name)))]
  return names.every((name) => canBeSummed(dataset, name)) ? names.sort() : []
}
