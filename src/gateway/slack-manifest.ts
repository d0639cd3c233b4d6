export { type ManifestOptions, slackManifest } from "../channels/slack/manifest.ts";
