/** A long page in sections, with links to them: beside the sections on wide screens, above them on phones. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Failed } from '../requests/query.ts'
import { Failure } from './failure.tsx'
import { InSection } from './panel.tsx'

export interface Section {
  /** Its place in the address, behind `#`. */
  readonly id: string
  readonly title: string
  /** Nothing: the section isn't for whoever looks. */
  readonly cards: ComponentChildren
}

interface SectionsProps {
  /** Names the list of links. */
  readonly name: string
  readonly failure: Failed | undefined
  readonly sections: readonly Section[]
}

export function Sections({ name, failure, sections }: SectionsProps) {
  const shown = sections.filter(({ cards }) => cards)
  const current = useCurrent(shown)
  return (
    <main class="sectioned">
      <nav aria-label={name}>
        {shown.map(({ id, title }) => (
          <a key={id} href={`#${id}`} aria-current={id === current ? 'location' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div>
        {failure && <Failure {...failure} />}
        {shown.map(({ id, title, cards }) => (
          <div key={id} class="section" id={id}>
            <h2>{title}</h2>
            <InSection.Provider value={true}>{cards}</InSection.Provider>
          </div>
        ))}
      </div>
    </main>
  )
}

/** Pixels from the top of the screen, above which a section has begun. */
const begunAbove = 120

/** The section that is being looked at: the last one that has begun. At the page's end it is the one of the address, or the last of all. */
function useCurrent(sections: readonly Pick<Section, 'id'>[]): string | undefined {
  const ids = sections.map(({ id }) => id)
  const [current, setCurrent] = useState(ids[0])
  const known = ids.join()
  useEffect(() => {
    const look = () => {
      const { scrollHeight } = document.documentElement
      const isAtEnd = scrollY > 0 && scrollY + innerHeight >= scrollHeight - 1
      const begun = ids.filter((id) => topOf(id) < begunAbove)
      // Sections near the end can't come to the top of the screen.
      const atEnd = ids.find((id) => id === addressed() && topOf(id) >= 0) ?? ids.at(-1)
      setCurrent(isAtEnd ? atEnd : (begun.at(-1) ?? ids[0]))
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('hashchange', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('hashchange', look)
    }
  }, [known])
  useEffect(goWhereAddressed, [])
  return current
}

const addressed = () => location.hash.slice(1)
const topOf = (id: string) => document.getElementById(id)!.getBoundingClientRect().top
const moves = ['wheel', 'pointerdown', 'keydown'] as const

/** The browser looked for the section before the page was drawn. Cards grow as their answers come, until somebody moves. */
function goWhereAddressed(): (() => void) | undefined {
  const section = document.getElementById(addressed())
  if (section === null) return undefined
  const growth = new ResizeObserver(() => section.scrollIntoView())
  const stop = () => growth.disconnect()
  growth.observe(section.parentElement!)
  for (const move of moves) addEventListener(move, stop, { once: true, passive: true })
  return () => {
    stop()
    for (const move of moves) removeEventListener(move, stop)
  }
}
