import CAdwaita

/// The panels of the state, one below the other, beside the timeline. Each has its line of code below its title.
@MainActor
final class DetailsPane {
    let widget: Widget = gtk_scrolled_window_new()
    private let labels = TimelinePanel.allCases.map { ($0, Widgets.text().styled("caption")) }
    /// The lines of code.
    let code = TimelinePanel.allCases.map { Widgets.code($0.effect) }
    private let waterfall = WaterfallView()

    init() {
        let column = Widgets.column(spacing: 6).inset(12)
        for ((panel, label), code) in zip(labels, code) {
            gtk_box_append(column.cast(), Widgets.text(panel.title).styled("heading"))
            gtk_box_append(column.cast(), code)
            gtk_label_set_selectable(label.own, 1)
            gtk_widget_set_margin_bottom(label, 12)
            gtk_box_append(column.cast(), label)
            if panel == .info { gtk_box_append(column.cast(), waterfall.widget) }
        }
        gtk_scrolled_window_set_child(widget.own, column)
        gtk_scrolled_window_set_policy(widget.own, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_size_request(widget, 300, -1)
        // The list's background, since the pane covers the list in a narrow window.
        gtk_widget_add_css_class(widget, "background")
    }

    func show(_ state: TimelineState) {
        waterfall.show(state.waterfall)
        for (panel, label) in labels {
            gtk_label_set_text(label.own, panel.lines(state).map(OneLine.text).joined(separator: "\n"))
        }
    }
}
