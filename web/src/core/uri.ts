// Reference URIs and mentions as recall.md §1 and §2 spell them.

function base64url(bytes: Uint8Array): string {
  let s = "";
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The address of a conversation, or of a message of one. */
export function address(conversation: string, message?: string): string {
  // JSON.stringify is the canonical spelling, lone surrogates aside, and those
  // cannot be part of an id that came from the server as UTF-8.
  const payload = JSON.stringify(message === undefined ? conversation : [conversation, message]);
  return "weir:" + base64url(new TextEncoder().encode(payload));
}

/** The in-text spelling of a reference. */
export function mention(label: string, uri: string): string {
  const line = label.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").replace(/[\\\]]/g, "\\$&");
  return `@[${line}](${uri})`;
}
