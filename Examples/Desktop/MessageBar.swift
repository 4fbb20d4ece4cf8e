import CAdwaita

/// A line of text below the header, while there is one.
@MainActor
final class MessageBar {
    let widget: Widget = gtk_revealer_new()
    private let box: Widget = example_box_new(GTK_ORIENTATION_HORIZONTAL, GTK_ACCESSIBLE_ROLE_ALERT)
    private let icon: Widget
    private let label = Widgets.text()
    private let style: String

    /// Creates a bar. Its icon and its style are for errors.
    init(icon name: String, style: String) {
        icon = gtk_image_new_from_icon_name(name)
        self.style = style
        for child in [icon, label] { gtk_box_append(box.cast(), child) }
        gtk_box_set_spacing(box.cast(), 8)
        gtk_revealer_set_child(widget.own, box.styled("message-bar"))
        show(nil)
    }

    func show(_ text: String?, isError: Bool = true) {
        // Hidden text is kept while the bar disappears.
        if let text {
            gtk_label_set_text(label.own, OneLine.text(text))
            example_set_accessible_label(box, OneLine.text(text))
            icon.isVisible = isError
            isError ? gtk_widget_add_css_class(box, style) : gtk_widget_remove_css_class(box, style)
        }
        gtk_revealer_set_reveal_child(widget.own, text == nil ? 0 : 1)
    }
}
