// A plugin of typedoc: `{@link Name}` finds the one public thing of that name, wherever it is documented. Without it, a
// link in `@throws`, which TypeScript reads as a type, finds only what the same module exports.
export function load(app) {
  app.converter.addUnknownSymbolResolver((reference, reflection) => {
    const path = reference.symbolReference?.path?.map(({ path: name }) => name)
    if (path === undefined || path.length === 0) return undefined
    const [first, ...members] = path
    const found = Object.values(reflection.project.reflections).find(
      (one) => one.name === first && MODULE_OR_PROJECT.includes(one.parent?.kind)
    )
    const target = members.length === 0 ? found : found?.getChildByName(members)
    return target && { target }
  })
}

const MODULE_OR_PROJECT = [0x1, 0x2]
