/** Copies of images in JPEG, the format that every network takes. The browser makes them: the service stores images as they are. */

const jpegQuality = 0.92

/** Images that browsers show and the service doesn't take. GIFs are left as they are: a copy would stand still. */
const copied = ['image/webp', 'image/avif', 'image/bmp']

export function needsJpegCopy({ type }: File): boolean {
  return copied.includes(type)
}

/**
 * Transparent parts become white. An animation gives its first picture.
 *
 * @param name of the image; the copy's ends with `.jpg`
 * @returns undefined where the browser can't read the image, or hold it
 */
export async function jpegCopy(image: Blob | HTMLImageElement, name: string): Promise<File | undefined> {
  try {
    // Turned as its EXIF data says.
    const picture = await createImageBitmap(image)
    const canvas = new OffscreenCanvas(picture.width, picture.height)
    const context = canvas.getContext('2d')!
    context.fillStyle = 'white'
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(picture, 0, 0)
    picture.close()
    const copy = await canvas.convertToBlob({ type: 'image/jpeg', quality: jpegQuality })
    return new File([copy], `${name.replace(/\.\w{1,5}$/, '')}.jpg`, { type: copy.type })
  } catch {
    return undefined
  }
}
