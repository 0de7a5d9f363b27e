import { useMutation } from '@tanstack/react-query'
import { download } from '../../api/download.ts'
import { asProblem } from '../../api/problem.ts'
import { Icon } from '../icon.tsx'

/** Saves a list as a CSV file, with the filter that is shown. */
export function CsvButton({ path, name }: { path: string; name: string }) {
  const save = useMutation({ mutationFn: () => download(path, name) })
  return (
    <>
      <button type="button" className="button" onClick={() => save.mutate()} disabled={save.isPending}>
        <Icon name="download" /> CSV
      </button>
      {save.isError && (
        <span className="small" role="alert">
          {asProblem(save.error).message}
        </span>
      )}
    </>
  )
}
