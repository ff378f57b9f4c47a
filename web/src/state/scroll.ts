import { signal } from "@preact/signals";

/** Goes up when the timeline on screen should show its newest. */
export const scrollDown = signal(0);
