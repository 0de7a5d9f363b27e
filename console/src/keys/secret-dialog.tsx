import { useEffect, useState } from 'react'
import { useBlocker } from 'react-router'
import { CopyButton } from '../components/form/copy-button.tsx'
import { Dialog } from '../components/form/dialog.tsx'

/** Shows a new secret once. The user cannot close the dialog or leave the page by accident. */
export function SecretDialog({
  title,
  secret,
  isForPages = false,
  continueAt,
  onClose,
}: {
  title: string
  secret: string
  /** The key has allowed origins. */
  isForPages?: boolean
  continueAt?: () => Element | null
  onClose: () => void
}) {
  const [isCopied, setCopied] = useState(false)
  const [isStored, setStored] = useState(false)
  // Copying is not storing: only the user ticks the box. But what is on the clipboard is not lost with the dialog.
  const isSafe = isCopied || isStored
  const [isConfirming, setConfirming] = useState(false)
  const blocker = useBlocker(!isSafe)
  useEffect(() => {
    if (isSafe) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isSafe])
  useEffect(() => {
    if (blocker.state === 'blocked') setConfirming(true)
  }, [blocker.state])
  const close = () => (isSafe ? onClose() : setConfirming(true))
  const leave = () => {
    onClose()
    blocker.proceed?.()
  }
  const stay = () => {
    setConfirming(false)
    blocker.reset?.()
  }
  return (
    <Dialog title={title} onClose={close} continueAt={continueAt}>
      <p>
        This is the whole secret. It is shown <strong>this once</strong>: it cannot be shown again.{' '}
        {isForPages
          ? 'Put it into your page, as the header X-API-Key or as api_key in the URL of tiles.'
          : 'Store it where your program reads it, and never in a page or a repository.'}
      </p>
      <div className="secret">
        <code data-secret>{secret}</code>
        <CopyButton text={secret} onCopy={() => setCopied(true)} />
      </div>
      {isConfirming && !isSafe ? (
        <div className="note warn stack-small" role="alert">
          <p>You have not copied the secret. If you leave now, it is lost, and you need a new one.</p>
          <div className="row">
            <button type="button" className="button small" onClick={stay}>
              Stay
            </button>
            <button type="button" className="button small danger" onClick={leave}>
              Leave without it
            </button>
          </div>
        </div>
      ) : (
        <div className="dialog-foot">
          <label className="choice small">
            <input type="checkbox" checked={isStored} onChange={(event) => setStored(event.target.checked)} />
            I have stored the secret
          </label>
          <button type="button" className="button primary" onClick={close}>
            Done
          </button>
        </div>
      )}
    </Dialog>
  )
}
