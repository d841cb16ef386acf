/** An element of the page, which index.html has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id)
  if (element === null) {
    throw new Error(`the page has no #${id}`)
  }
  return element as T
}
