/** Where the node writes what it does; pino's loggers fit. Never given payloads or keys. */
export interface Logger {
  debug(data: object, message: string): void
  info(data: object, message: string): void
  warn(data: object, message: string): void
  error(data: object, message: string): void
}

function ignore(): void {}

/** Writes nothing. */
export const SILENT_LOGGER: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
