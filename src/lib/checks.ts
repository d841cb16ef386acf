import { InvalidArgumentError } from '../errors.ts'

/**
 * Checks a whole number.
 *
 * @throws {@link InvalidArgumentError} unless it is an integer from `min` to `max`
 */
export function assertInteger(parameter: string, value: number, min: number, max = Infinity): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new InvalidArgumentError(parameter, `must be an integer from ${min} to ${max}`)
  }
}

/**
 * Checks some numbers.
 *
 * @param names - those of `values` that are looked at
 * @throws {@link InvalidArgumentError} naming the first that is no number above zero
 */
export function assertPositive(values: object, names: readonly string[]): void {
  for (const name of names) {
    const value = (values as Record<string, unknown>)[name]
    if (typeof value !== 'number' || !(value > 0)) {
      throw new InvalidArgumentError(name, 'must be a positive number')
    }
  }
}

/**
 * Checks a text.
 *
 * @throws {@link InvalidArgumentError} unless it is a string that is not empty
 */
export function assertText(parameter: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') {
    throw new InvalidArgumentError(parameter, 'must be a non-empty string')
  }
}

/**
 * Checks a part that something is built over, by a method that it needs.
 *
 * @throws {@link InvalidArgumentError} unless it has that
 */
export function assertMethod(parameter: string, value: unknown, method: string): void {
  if (typeof (value as Record<string, unknown> | null | undefined)?.[method] !== 'function') {
    throw new InvalidArgumentError(parameter, `has no method ${method}`)
  }
}

/**
 * Checks what holds options or fields.
 *
 * @throws {@link InvalidArgumentError} unless it is an object
 */
export function assertObject(parameter: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    throw new InvalidArgumentError(parameter, 'must be an object')
  }
}
