// Line icons, drawn on a 24 by 24 grid. They say nothing by themselves: the
// control around them has the name.

const paths = {
  plus: "M12 5v14M5 12h14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm9 2-4-4",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z",
  branch: "M7 4v11m0 0a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5Zm10-6a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm0 0c0 4-4 5-8 6.5",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  quote: "M9 7H5v6h4l-1.5 4M19 7h-4v6h4l-1.5 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.6-5.6l-1.2 1.2M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.6 5.6l1.2-1.2",
  rewind: "M9 8 4 12l5 4M4 12h10a6 6 0 0 1 6 6",
  pencil: "m4 20 1-5L16 4l4 4L9 19zM13.5 6.5l4 4",
  send: "M12 19V6M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  queue: "M5 7h14M5 12h14M5 17h7M16 17h5",
  close: "m6 6 12 12M18 6 6 18",
  down: "m6 10 6 6 6-6",
  left: "m15 6-6 6 6 6",
  right: "m9 6 6 6-6 6",
  panel: "M4 5h16v14H4zM9 5v14",
  scope: "M4 5h16v14H4zM15 5v14M7 9h5M7 12h5M7 15h3",
  check: "m5 13 4.5 4.5L19 7",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  gear: "M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M18.4 5.6l-2.1 2.1M7.7 16.3l-2.1 2.1",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.5 2",
  up: "m6 14 6-6 6 6",
  retry: "M20 12a8 8 0 1 1-2.5-5.8M20 4v5h-5",
  tool: "M4 5h16v14H4zM8 10l2.5 2L8 14M13 14.5h3",
  shield: "M12 3 5 6v6c0 4 3 7 7 9 4-2 7-5 7-9V6zM9 12l2.2 2.2L15.5 10",
  warn: "M12 4 3 20h18zM12 10v5M12 17.5v.01",
  arrow: "M5 12h14M13 6l6 6-6 6",
  import: "M12 4v10M8 10l4 4 4-4M5 15v4h14v-4",
  tag: "M4 4h8l8 8-8 8-8-8zM8.5 8.5v.01",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** The mark of the product: water over a weir. */
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg class="icon mark" width={size} height={size} viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" aria-hidden="true" focusable="false">
      <path d="M3 11c3-2.5 6-2.5 9 0" />
      <path d="M3 17c3-2.5 6-2.5 9 0" opacity=".6" />
      <path d="M16 6v20" />
      <path d="M20 16c3-2.5 6-2.5 9 0M20 22c3-2.5 6-2.5 9 0" />
    </svg>
  );
}

export function Spinner({ label }: { label: string }) {
  return <span class="spinner" role="img" aria-label={label} title={label} />;
}
