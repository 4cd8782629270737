/** The folders whose segments one shipper ships: the node's own, those of its workers, and those of earlier ones. */
import type { Log } from '../../runtime/log.ts'
import { retiredBytesMax } from '../../schemas/limits/log-limits.ts'
import type { Segment } from '../log/segment.ts'
import { FileKeeper, type ShippedFolder } from './file-keeper.ts'
import type { ShipJournal } from './journal.ts'
import type { Manifest } from './manifest.ts'

export class ShippedFolders {
  private readonly byNumber = new Map<number, { readonly files: ShippedFolder['files']; readonly keeper: FileKeeper }>()
  /** All that was found at start, shipped or not, oldest first. */
  readonly found: readonly Segment[]

  constructor(folders: readonly ShippedFolder[], journal: ShipJournal, log: Log) {
    const bytesMax = retiredBytesMax / folders.length
    for (const each of folders) {
      this.byNumber.set(each.folder, { files: each.files, keeper: new FileKeeper(each, { bytesMax, journal, log }) })
    }
    this.found = folders.flatMap(({ recovered }) => recovered.segments).sort((a, b) => a.number - b.number)
  }

  start(): void {
    for (const { keeper } of this.byNumber.values()) keeper.start()
  }

  addSegment(segment: Segment): void {
    this.byNumber.get(segment.folder)!.keeper.addSegment(segment)
  }

  /** The writer of `folder` has left the file, and all of its segments were added. */
  fileLeft(folder: number, file: number): void {
    this.byNumber.get(folder)!.keeper.fileLeft(file)
  }

  pathOf({ folder, file }: Segment): string {
    return this.byNumber.get(folder)!.files.pathOf(file)
  }

  /** Whether a segment comes from before this process, so that it may have been sent already. */
  isRecovered({ folder, number }: Segment): boolean {
    return this.byNumber.get(folder)!.keeper.isRecovered(number)
  }

  manifestDone(manifest: Manifest): void {
    for (const { keeper } of this.byNumber.values()) keeper.manifestDone(manifest)
  }

  async close(): Promise<void> {
    await Promise.all([...this.byNumber.values()].map(({ keeper }) => keeper.close()))
  }
}
