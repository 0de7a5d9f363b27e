import { type DragEvent, useId, useState } from 'react'
import { Icon } from '../components/icon.tsx'
import { bytes } from '../words.ts'

/** What the file dialog offers first. The server decides by the content, so a dropped file may have any name. */
const ACCEPTED =
  '.geojson,.json,.geojsonl,.ndjson,.jsonl,.topojson,.csv,.tsv,.txt,.psv,.xlsx,.xlsm,.ods,.xls,.shp,.dbf,.gpkg,.fgb,.parquet,.geoparquet,.arrow,.feather,.kml,.kmz,.gpx,.gml,.tab,.mif,.sqlite,.zip,.gz,.zst'

/** A drop zone for a file, with a button as the alternative. */
export function FileDrop({ file, onFile }: { file: File | null; onFile: (file: File) => void }) {
  const id = useId()
  const [over, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const [dropped] = event.dataTransfer.files
    if (dropped) onFile(dropped)
  }
  const drag = (event: DragEvent) => {
    event.preventDefault()
    setOver(true)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard.
    <div
      className={['drop', over && 'over', !file && 'first'].filter(Boolean).join(' ')}
      onDragOver={drag}
      onDragEnter={drag}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {!file && <Icon name="upload" />}
      <strong>{file ? file.name : 'Drop a file here'}</strong>
      {file?.size === 0 ? (
        <span className="wrong" role="alert">
          This file is empty, so there is nothing to publish.
        </span>
      ) : (
        <span className="small soft">
          {file
            ? bytes(file.size)
            : 'GeoPackage, zipped shapefile, GeoJSON, CSV, Excel, Parquet, KML, GPX and others'}
        </span>
      )}
      <label className={file ? 'button small' : 'button primary'} htmlFor={id}>
        {file ? 'Choose another file' : 'Choose a file'}
        <input
          id={id}
          type="file"
          accept={ACCEPTED}
          className="visually-hidden"
          onChange={(event) => event.target.files?.[0] && onFile(event.target.files[0])}
        />
      </label>
    </div>
  )
}
