// The format of server-sent events, cut into events as the HTML standard says.

export interface SSEvent {
  name: string;
  data: string;
  id?: string;
}

/** Takes pieces of a stream, however it was cut, and gives whole events. */
export class EventParser {
  private rest = "";
  private name = "";
  private data: string[] = [];
  private id: string | undefined;

  feed(chunk: string, emit: (e: SSEvent) => void): void {
    this.rest += chunk;
    for (;;) {
      const m = /\r\n|\n|\r/.exec(this.rest);
      if (!m) return;
      // A lone CR at the very end may be half of a CRLF.
      if (m[0] === "\r" && m.index === this.rest.length - 1) return;
      const line = this.rest.slice(0, m.index);
      this.rest = this.rest.slice(m.index + m[0].length);
      this.line(line, emit);
    }
  }

  private line(line: string, emit: (e: SSEvent) => void): void {
    if (line === "") {
      if (this.data.length > 0) {
        const e: SSEvent = { name: this.name || "message", data: this.data.join("\n") };
        if (this.id !== undefined) e.id = this.id;
        emit(e);
      }
      this.name = "";
      this.data = [];
      this.id = undefined;
      return;
    }
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "event") this.name = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
  }
}
