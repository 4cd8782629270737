/** Lists that archive: their address says which part of them is shown. */
import { addressWith } from '../shell/address-with.ts'

export function isArchive(search: string): boolean {
  return new URLSearchParams(search).get('status') === 'archived'
}

interface ArchiveTabsProps {
  readonly title: string
  /** The address's query, which has the choice. */
  readonly search: string
  navigate(path: string): void
}

/** Chooses between what is in use and what was archived. */
export function ArchiveTabs({ title, search, navigate }: ArchiveTabsProps) {
  const choose = (status?: 'archived') => navigate(addressWith(search, 'status', status))
  return (
    <div class="tabs">
      <h2 class="unseen">{title}</h2>
      <button type="button" aria-pressed={!isArchive(search)} onClick={() => choose()}>
        {title}
      </button>
      <button type="button" aria-pressed={isArchive(search)} onClick={() => choose('archived')}>
        Archived
      </button>
      <span class="label">Newest first</span>
    </div>
  )
}
