import {
  loadDotEnv,
  readEnvironment,
  type ServerFlags,
  type ServerSettings,
} from "../gateway/environment.ts";

/** Reads `.env` and the environment of the working folder, the same way for every command. */
export function prepare(flags: ServerFlags): ServerSettings {
  loadDotEnv(process.cwd(), process.env);
  return readEnvironment(process.env, flags, process.cwd());
}
