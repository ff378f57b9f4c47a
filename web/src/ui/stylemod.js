// Takes the place of the package style-mod (see web/build): the same modules,
// mounted in one constructed style sheet instead of a <style> element, so that
// the page works under a policy that forbids inline styles.
import { StyleModule as Base } from "../../node_modules/style-mod/src/style-mod.js";

const mounted = new WeakMap(); // document or shadow root → { sheet, modules }

export class StyleModule extends Base {
  static mount(root, modules) {
    const list = Array.isArray(modules) ? modules : [modules];
    let set = mounted.get(root);
    if (!set) {
      set = { sheet: new CSSStyleSheet(), modules: [] };
      mounted.set(root, set);
      root.adoptedStyleSheets = [set.sheet, ...root.adoptedStyleSheets];
    }
    // Later modules win over earlier ones, so known ones move to where the
    // newest call wants them.
    const rest = set.modules.filter((m) => !list.includes(m));
    const next = [...list, ...rest];
    if (next.length === set.modules.length && next.every((m, i) => m === set.modules[i])) return;
    set.modules = next;
    set.sheet.replaceSync(next.map((m) => m.getRules()).join("\n"));
  }
}
