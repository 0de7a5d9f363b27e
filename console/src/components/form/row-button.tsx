/** A small button in a row of a table; its label for screen readers names the row. */
export function RowButton({ label, of, onClick }: { label: string; of: string; onClick: () => void }) {
  return (
    <button
      type="button"
      className="button quiet small"
      aria-label={`${label}${/^[:\s]/.test(of) ? '' : ' '}${of}`}
      onClick={onClick}
    >
      {label}
    </button>
  )
}
