/** Marks of notes over the chart, and their texts beside the pointer. */
import type { Note } from '../../../schemas/resources/note.ts'
import { noteTime } from './note-buckets.ts'

/** Marks in place of those before. @param places pixels from the left */
export function drawMarks(over: HTMLElement, places: readonly number[]): void {
  for (const mark of over.querySelectorAll('.note-mark')) mark.remove()
  for (const place of places) over.append(made('span', 'note-mark', place))
}

/** The others stand in the list under the chart. */
const shownMax = 5

/** In place of what was shown before; nothing without notes. @param place pixels from the left */
export function showTip(over: HTMLElement, notes: readonly Note[], place: number): void {
  over.querySelector('.note-tip')?.remove()
  if (notes.length === 0) return
  const lines = notes.slice(0, shownMax).map((note) => `${noteTime(note)}: ${note.text}`)
  if (notes.length > shownMax) lines.push(`and ${notes.length - shownMax} more`)
  const tip = made('div', 'note-tip', place)
  // Towards the middle, where there is room.
  if (place > over.clientWidth / 2) tip.style.transform = 'translateX(-100%)'
  for (const text of lines) {
    // Written by anybody in the workspace: shown as text alone, in its own direction.
    const line = document.createElement('bdi')
    line.textContent = text
    tip.append(line)
  }
  over.append(tip)
}

function made(name: string, className: string, place: number): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  element.style.left = `${place}px`
  return element
}
