/**
 * `waybill/test`: drives a gateway in a test, without a network.
 *
 *   const t = await testGateway({ agents: { echo: agent.fn(async (ctx) => ctx.text) } });
 *   expect((await t.say("hi")).text).toBe("hi");
 */
export {
  testGateway,
  type Said,
  type SayOptions,
  type TestGateway,
  type TestGatewayOptions,
} from "./test-gateway.ts";
export {
  recordingChannel,
  type ReceiveOptions,
  type RecordingChannel,
  type RecordingChannelOptions,
} from "./recording-channel.ts";
export type { PlatformPost, ScriptedOutcome } from "./fake-platform.ts";
export type { CapturedStream } from "./capture-stream.ts";
export type { TestDelivery, TestMessage, TestRunEvent } from "./read-store.ts";
export type { LogLine } from "./recording-logger.ts";
export { manualClock, type ManualClock } from "../kernel/clock.ts";
