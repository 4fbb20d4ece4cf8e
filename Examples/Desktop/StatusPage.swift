import CAdwaita
import Linnet

/// The page in the place of an empty timeline: why it is empty, and what to do.
@MainActor
final class StatusPage {
    let widget: Widget = adw_status_page_new()
    private let details = Widgets.column(spacing: 12)
    private let button: Widget = gtk_button_new_with_label("Try Again").styled("pill", "suggested-action")
    /// The explanation that the details show.
    private var shown: [String] = []

    init(_ refresh: @escaping @MainActor () -> Void) {
        gtk_widget_set_halign(button, GTK_ALIGN_CENTER)
        Handler(refresh).connect(to: button, "clicked")
        adw_status_page_set_child(widget.own, Widgets.column(details, button, spacing: 24))
    }

    func show(_ state: TimelineState) {
        guard state.posts.isEmpty else { return }
        let refusal = state.isRefreshing ? nil : state.refusal
        let failed = state.isError && !state.isRefreshing
        let empty = state.isRefreshing ? "Loading the Timeline…" : "No Posts"
        let title = failed ? "The Timeline Could Not Be Loaded" : empty
        let icon = failed ? "network-error-symbolic" : "mail-unread-symbolic"
        adw_status_page_set_icon_name(widget.own, refusal == nil ? icon : "security-low-symbolic")
        adw_status_page_set_title(widget.own, refusal == nil ? title : "The Server Is Not Trusted")
        describe(refusal?.explanation.first ?? (state.isRefreshing ? "" : state.message ?? ""))
        show(refusal)
        button.isVisible = !state.isRefreshing
    }

    /// Sets the description, which is markup, and which a server must not write.
    private func describe(_ text: String) {
        let escaped = g_markup_escape_text(OneLine.text(text), -1)
        adw_status_page_set_description(widget.own, escaped)
        g_free(escaped)
    }

    /// Shows the seen and the wanted pins, what they mean, and what to do.
    private func show(_ refusal: TrustRefusal?) {
        let explanation = refusal?.explanation ?? []
        guard explanation != shown else { return }
        shown = explanation
        while let child = gtk_widget_get_first_child(details) { gtk_box_remove(details.cast(), child) }
        guard let refusal else { return }
        if refusal.reason == .pinMismatch {
            add("Seen, the Server's First", refusal.seenPins)
            add("Wanted", refusal.wantedPins)
            gtk_box_append(details.cast(), Widgets.text(TrustRefusal.meaning))
        }
        gtk_box_append(details.cast(), Widgets.text(OneLine.text(refusal.advice)).styled("heading"))
    }

    private func add(_ title: String, _ pins: [PublicKeyPin]) {
        let list: Widget = gtk_list_box_new().styled("boxed-list").named(title)
        gtk_list_box_set_selection_mode(list.own, GTK_SELECTION_NONE)
        for pin in pins {
            let label = Widgets.text(pin.description).styled("monospace").inset(12)
            gtk_label_set_selectable(label.own, 1)
            gtk_list_box_append(list.own, label)
        }
        gtk_box_append(details.cast(), Widgets.text(title).styled("heading"))
        gtk_box_append(details.cast(), list)
    }
}
