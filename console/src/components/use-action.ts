import { useMutation } from '@tanstack/react-query'

/** Something that is done once asked for: whether it runs, and why it failed. */
export function useAction(work: () => Promise<unknown>) {
  const mutation = useMutation({ mutationFn: work })
  return { run: () => mutation.mutate(), running: mutation.isPending, error: mutation.error as unknown }
}
