/** For `catch` of a read: the value where nothing is there. After any other failure the file may still exist, so it is thrown. */
export function ifMissing<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === 'ENOENT') return value
    throw error
  }
}
