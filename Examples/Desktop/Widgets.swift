import CAdwaita

typealias Widget = UnsafeMutablePointer<GtkWidget>

extension UnsafeMutablePointer<GtkWidget> {
    /// The widget as its own type, which C keeps to itself.
    var own: OpaquePointer { OpaquePointer(self) }

    /// Casts the widget to one of its types, like GTK's macros in C.
    func cast<Other>() -> UnsafeMutablePointer<Other> { UnsafeMutablePointer<Other>(own) }

    /// The widget with style classes.
    func styled(_ classes: String...) -> Widget {
        for name in classes { gtk_widget_add_css_class(self, name) }
        return self
    }

    /// The widget with a margin on each side.
    func inset(_ margin: Int32, vertical: Int32? = nil) -> Widget {
        gtk_widget_set_margin_start(self, margin)
        gtk_widget_set_margin_end(self, margin)
        gtk_widget_set_margin_top(self, vertical ?? margin)
        gtk_widget_set_margin_bottom(self, vertical ?? margin)
        return self
    }

    /// The widget with all the room that there is.
    func expanded(vertically: Bool = false) -> Widget {
        vertically ? gtk_widget_set_vexpand(self, 1) : gtk_widget_set_hexpand(self, 1)
        return self
    }

    /// The widget with a name for screen readers.
    func named(_ name: String) -> Widget {
        example_set_accessible_label(self, name)
        return self
    }

    var isSensitive: Bool {
        get { gtk_widget_get_sensitive(self) != 0 }
        nonmutating set { gtk_widget_set_sensitive(self, newValue ? 1 : 0) }
    }

    var isVisible: Bool {
        get { gtk_widget_get_visible(self) != 0 }
        nonmutating set { gtk_widget_set_visible(self, newValue ? 1 : 0) }
    }
}

/// The widgets that the window is made of.
@MainActor
enum Widgets {
    static func column(_ children: Widget..., spacing: Int32 = 0) -> Widget {
        box(GTK_ORIENTATION_VERTICAL, children, spacing)
    }

    static func row(_ children: Widget..., spacing: Int32 = 6) -> Widget {
        box(GTK_ORIENTATION_HORIZONTAL, children, spacing)
    }

    private static func box(_ orientation: GtkOrientation, _ children: [Widget], _ spacing: Int32) -> Widget {
        let box: Widget = gtk_box_new(orientation, spacing)
        for child in children { gtk_box_append(box.cast(), child) }
        return box
    }

    /// A label that is wrapped, also within a long word.
    static func text(_ text: String = "") -> Widget {
        let label: Widget = gtk_label_new(text)
        gtk_label_set_wrap(label.own, 1)
        gtk_label_set_wrap_mode(label.own, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(label.own, 0)
        // A hyphen would change a pin or a URL.
        let attributes = pango_attr_list_new()
        pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(0))
        gtk_label_set_attributes(label.own, attributes)
        pango_attr_list_unref(attributes)
        return label
    }

    /// The line of code that makes an effect.
    static func code(_ effect: TimelineEffect? = nil) -> Widget {
        text(effect?.code ?? "").styled("caption", "monospace", "accent")
    }

    /// A button with an icon, which shows its name and keys while the pointer is on it.
    static func button(icon: String, _ name: String, keys: String, _ action: @escaping @MainActor () -> Void) -> Widget
    {
        let button: Widget = gtk_button_new_from_icon_name(icon)
        gtk_widget_set_tooltip_text(button, "\(name) (\(keys))")
        Handler(action).connect(to: button, "clicked")
        return button.named(name)
    }

    /// A button with an icon beside its text.
    static func button(icon: String, text: String, _ action: @escaping @MainActor () -> Void) -> Widget {
        let button: Widget = gtk_button_new()
        let label: Widget = gtk_label_new(text)
        gtk_label_set_ellipsize(label.own, PANGO_ELLIPSIZE_MIDDLE)
        gtk_button_set_child(button.cast(), row(gtk_image_new_from_icon_name(icon), label))
        Handler(action).connect(to: button, "clicked")
        return button.named(text)
    }
}
