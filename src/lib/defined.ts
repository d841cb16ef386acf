/** The same object without what is undefined in it: that covers no default, and is not stored. */
export function definedOnly<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}
