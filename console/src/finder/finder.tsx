import '../styles/finder.css'
import { type KeyboardEvent, useId, useState } from 'react'
import { useNavigate } from 'react-router'
import { useDatasets, useKeys, useMe, useSession } from '../api/queries.ts'
import { Dialog } from '../components/form/dialog.tsx'
import { isConsolePage } from '../components/site-link.tsx'
import { searchedText } from '../datasets/search-datasets.ts'
import { site } from '../site.ts'
import { setTheme, useTheme } from '../theme.ts'
import { type FindablePlace, findPlaces } from './find-places.ts'
import { pagesFor } from './pages.ts'

/** A field that finds datasets, keys, pages and actions, and opens or does them. */
export function Finder({ onClose }: { onClose: () => void }) {
  const id = useId()
  const navigate = useNavigate()
  const [search, setSearch] = useState('')
  const [at, setAt] = useState(0)
  const found = findPlaces(usePlaces(), search)
  const chosen = Math.min(at, found.length - 1)
  const open = ({ to, act }: FindablePlace) => {
    onClose()
    if (act) act()
    else if (isConsolePage(to)) navigate(to)
    else location.assign(to)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setAt((chosen + step + found.length) % found.length)
    }
    if (event.key === 'Enter' && found[chosen]) {
      event.preventDefault()
      open(found[chosen])
    }
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        aria-label="Find a dataset, a page, a key or an action"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found[chosen] && `${id}-${chosen}`}
        aria-autocomplete="list"
        autoComplete="off"
        placeholder="Dataset, page, key or action…"
        value={search}
        onChange={(event) => {
          setSearch(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} className="found" role="listbox" aria-label="What was found">
        {found.map((place, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus.
          <div
            key={place.to}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            ref={index === chosen ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
            onPointerMove={() => setAt(index)}
            onClick={() => open(place)}
          >
            <span dir="auto">{place.title}</span>
            <span className="small soft">{place.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p className="soft">
          Nothing matches. Datasets are found by their titles, descriptions, keywords and columns, pages and
          keys by their names.
        </p>
      )}
      <p className="finder-keys small soft" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> open <kbd>Esc</kbd> close
      </p>
    </Dialog>
  )
}

/** Everything that can be found. What is still loading is added when it is there. */
function usePlaces(): FindablePlace[] {
  const isSignedIn = useSession() === 'signed-in'
  const { data: me } = useMe()
  const datasets = useDatasets().data ?? []
  const keys = useKeys(isSignedIn).data ?? []
  return [
    ...pagesFor(me, site.sells),
    ...actionsFor(isSignedIn, useTheme()),
    ...datasets.map((dataset) => ({
      to: `/datasets/${dataset.table}`,
      title: dataset.title,
      group: 'Dataset',
      words: searchedText(dataset),
    })),
    ...keys.map(({ id, name, prefix }) => ({ to: `/keys/${id}`, title: name, group: 'Key', words: prefix })),
  ]
}

function actionsFor(isSignedIn: boolean, theme: string): FindablePlace[] {
  const other = theme === 'dark' ? 'light' : 'dark'
  const group = 'Action'
  return [
    ...(isSignedIn ? [{ to: '/keys?create', title: 'Create a key', group }] : []),
    { to: '#theme', title: `Use the ${other} theme`, group, act: () => setTheme(other) },
  ]
}
