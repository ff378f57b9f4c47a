// Ids that the page makes: a prefix and a UUIDv7 in hex, as the server's own.

export function newId(prefix: string): string {
  const b = crypto.getRandomValues(new Uint8Array(16));
  let ms = Date.now();
  for (let i = 5; i >= 0; i--) {
    b[i] = ms % 256;
    ms = Math.floor(ms / 256);
  }
  b[6] = (b[6]! & 0x0f) | 0x70;
  b[8] = (b[8]! & 0x3f) | 0x80;
  return prefix + "_" + Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
}
