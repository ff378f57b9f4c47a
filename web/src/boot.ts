// Runs before the first paint: the theme and language that were chosen.
// A classic script of its own because the page allows no inline ones.

try {
  const root = document.documentElement;
  root.dataset["theme"] = localStorage.getItem("weir.theme") ?? "auto";
  const lang = localStorage.getItem("weir.lang") ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
  root.lang = lang === "zh" ? "zh-CN" : "en";
} catch {
  // storage is forbidden here; the page comes up as the system prefers
}
