import { t } from "../core/i18n";
import { dismiss, toasts } from "../state/toasts";
import { Icon } from "./icons";

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((x) => (
        <div class={`toast ${x.tone}`} key={x.id}>
          <span>{x.text}</span>
          {x.action ? (
            <button
              type="button"
              class="link"
              onClick={() => {
                dismiss(x.id);
                x.action!.run();
              }}
            >
              {x.action.label}
            </button>
          ) : null}
          <button type="button" class="ghost icon-button small" aria-label={t("dismiss")} onClick={() => dismiss(x.id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
