import { describe, expect, test } from "vitest";
import { type Reading, readEnvelope, readEvent } from "./read-event.ts";

const self = { userId: "UBOT", botId: "BBOT" };
const said = { type: "message", channel: "C1", channel_type: "channel", ts: "2.0", user: "U1", text: "hi" };

function read(event: Record<string, unknown>): Reading {
  const envelope = readEnvelope({ type: "event_callback", team_id: "T1", event });
  if (envelope === null) throw new Error("It is no envelope.");
  return readEvent(envelope, self);
}

describe("an event", () => {
  test("of a person is a message", () => {
    expect(read(said)).toEqual({
      kind: "message",
      mentioned: false,
      message: {
        conversation: "C1",
        channelType: "channel",
        ts: "2.0",
        thread: null,
        user: "U1",
        text: "hi",
        files: [],
        threadAuthor: null,
      },
    });
  });

  test("and its twin are the same message, and both name the bot", () => {
    const one = read({ ...said, text: "<@UBOT> hi" });
    const twin = read({ ...said, type: "app_mention", text: "<@UBOT> hi" });
    expect(twin).toEqual(one);
    expect(one).toMatchObject({ mentioned: true });
  });

  test("names the bot only by its own mention", () => {
    expect(read({ ...said, text: "<@UBOT2> hi &lt;@UBOT&gt;" })).toMatchObject({ mentioned: false });
    expect(read({ ...said, text: "<@UBOT|waybill> hi" })).toMatchObject({ mentioned: true });
  });

  test("in a thread has its thread; the head of a thread stands at the top level", () => {
    expect(read({ ...said, thread_ts: "1.0" })).toMatchObject({ message: { thread: "1.0" } });
    expect(read({ ...said, thread_ts: "2.0" })).toMatchObject({ message: { thread: null } });
  });

  test.each<[string, Record<string, unknown>]>([
    ["we say", { user: "UBOT" }],
    ["we say as a bot", { user: "U7", bot_id: "BBOT" }],
    ["another bot says", { bot_id: "B2" }],
    ["a bot of the old kind says", { subtype: "bot_message", user: undefined }],
    ["Slackbot says", { user: "USLACKBOT" }],
    ["nobody says", { user: undefined }],
    ["Slack notes", { subtype: "channel_join" }],
  ])("that %s is ignored", (_name, more) => {
    expect(read({ ...said, ...more }).kind).toBe("ignored");
  });

  test.each(["file_share", "thread_broadcast", "me_message"])(
    "of a person with the subtype %s is a message",
    (subtype) => {
      expect(read({ ...said, subtype }).kind).toBe("message");
    },
  );

  test("of a change has the message as it is now; an unfurled link is no change", () => {
    const change = { type: "message", subtype: "message_changed", channel: "C1", ts: "9.0" };
    const message = { ts: "2.0", user: "U1", text: "new", thread_ts: "1.0" };
    const previous_message = { ...message, text: "old" };
    expect(read({ ...change, message, previous_message })).toMatchObject({
      kind: "changed",
      message: { ts: "2.0", text: "new", thread: "1.0", user: "U1" },
    });
    expect(read({ ...change, message, previous_message: message }).kind).toBe("ignored");
    expect(read({ ...change, message: { ...message, user: "UBOT" }, previous_message }).kind).toBe("ignored");
  });

  test("of a deletion names what was deleted and by whom it was written, also where answers hang from it", () => {
    const previous_message = { ts: "2.0", user: "U1", text: "old" };
    const deleted = { kind: "deleted", message: { ts: "2.0", user: "U1" } };
    const common = { type: "message", channel: "C1", ts: "9.0" };
    expect(
      read({ ...common, subtype: "message_deleted", deleted_ts: "2.0", previous_message }),
    ).toMatchObject(deleted);
    const message = { ts: "2.0", user: "USLACKBOT", subtype: "tombstone", text: "This message was deleted." };
    expect(read({ ...common, subtype: "message_changed", message, previous_message })).toMatchObject(deleted);
    const own = { ...previous_message, user: "UBOT" };
    expect(
      read({ ...common, subtype: "message_deleted", deleted_ts: "2.0", previous_message: own }),
    ).toMatchObject({ kind: "deleted", message: { user: "" } });
  });

  test.each<[string, Record<string, unknown>]>([
    ["without a channel", { ...said, channel: undefined }],
    ["with a number for a text", { ...said, text: 7 }],
    ["without a ts", { ...said, ts: undefined }],
    ["of a change without a message", { ...said, subtype: "message_changed" }],
    ["of a deletion without a message", { ...said, subtype: "message_deleted" }],
  ])("%s is ignored, and worth a line in the log", (_name, event) => {
    expect(read(event)).toMatchObject({ kind: "ignored", unexpected: true });
  });

  test("of another type is left to others", () => {
    expect(read({ type: "reaction_added", user: "U1" })).toMatchObject({
      kind: "other",
      type: "reaction_added",
    });
  });
});

describe("an envelope", () => {
  test("is for the workspaces that Slack names, the app's own first", () => {
    const shared = { type: "event_callback", team_id: "T2", authorizations: [{ team_id: "T1" }], event: {} };
    expect(readEnvelope(shared)?.teams).toEqual(["T1", "T2"]);
  });

  test.each([null, 7, "text", [], {}, { type: 7 }])("is not %j", (payload) => {
    expect(readEnvelope(payload)).toBeNull();
  });

  test("of another type is no event", () => {
    const envelope = readEnvelope({ type: "app_rate_limited", team_id: "T1" })!;
    expect(readEvent(envelope, self)).toMatchObject({ kind: "ignored", unexpected: true });
  });
});
